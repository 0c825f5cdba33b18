// The arithmetic of THC, element by element, and with it the specification: what a SIMD kernel or a
// GPU does must give these bits.
//
// A block x of B values (a power of two) becomes levels in the grid's own units:
//
//   rms      the root of the mean square of its values, the largest of all agents' (stage 0)
//   y        H (D x k) + g/2,   k = g / (2 t rms √B),   D the signs, H the ±1 Hadamard matrix
//   level    y clamped to [0, g] and rounded at random to a neighbour in the table
//   sum      of the contributors' T[level], an integer in [0, g c] for c contributors
//   x        D (H (2 sum - g c)) f,   f = t rms / (g √B)
//
// which is the paper's m + T[z] (M - m) / g with M = -m = t rms and an orthonormal rotation. H is
// applied as log2(B) rounds of butterflies (a, b) -> (a + b, a - b) with strides 1, 2, 4, ... B/2,
// in this order.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "core/base/host_device.h"
#include "core/base/random.h"

namespace tributary::thc {

// Blocks whose rms is smaller decode to zeros, and error feedback keeps what they held: so all
// factors stay finite.
constexpr float kRmsMin = 0x1p-100f;
constexpr std::uint32_t kMagnitudeMask = 0x7fffffffu;
constexpr std::uint32_t kInfinityBits = 0x7f800000u;  // magnitudes from here on are Inf and NaN

TRIBUTARY_HD inline std::uint32_t magnitude_bits(float x) {
  return std::bit_cast<std::uint32_t>(x) & kMagnitudeMask;
}

// A power of two that brings the largest magnitude of a block into [2, 4), so that its squares
// neither overflow nor vanish; `largest` is at least kRmsMin.
TRIBUTARY_HD inline float norm_scale(std::uint32_t largest_bits) {
  return std::bit_cast<float>((255u - (largest_bits >> 23)) << 23);
}

// From the sum of the squares of scaled values; kSquareLanes sums run side by side, element i into
// the one numbered i mod kSquareLanes, and are added as a tree: the upper half to the lower.
constexpr std::size_t kSquareLanes = 32;

TRIBUTARY_HD inline float rms_of(float scaled_square_sum, std::size_t block, float scale) {
  const float rms = sqrtf(scaled_square_sum / static_cast<float>(block)) / scale;
  return rms < 0x1.fffffep127f ? rms : 0x1.fffffep127f;
}

TRIBUTARY_HD inline float spread_factor(float granularity, float threshold, float rms,
                                        std::size_t block) {
  return granularity / (2.0f * threshold) / sqrtf(static_cast<float>(block)) / rms;
}

TRIBUTARY_HD inline float collect_factor(float granularity, float threshold, float rms,
                                         std::size_t block) {
  return rms / (granularity * sqrtf(static_cast<float>(block))) * threshold;
}

// Bit 31 - i of a word is the sign of the word's element i.
constexpr std::size_t kSignsPerWord = 32;

TRIBUTARY_HD inline float signed_factor(float factor, std::uint32_t word, std::size_t element) {
  const std::uint32_t sign = (word << (element % kSignsPerWord)) & 0x80000000u;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(factor) ^ sign);
}

// What rounding has to know of the grid cell that a coordinate lies in.
struct Cell {
  std::uint8_t level;   // of the table's last level that is not above the cell
  std::uint16_t lower;  // that level's place on the grid
  std::uint16_t gap;    // from there to the next level's
};

// One stream for all agents, each a share of the way round from the next: whatever is common to
// their coordinates is rounded up by as many of them as it should be, not by a random number.
// Independent rounding has a stream for each agent and no shift.
struct Rounding {
  StreamKey key = {};
  std::uint32_t shift = 0;  // agent / agents of 2^32
};

// y not clamped yet; NaN counts as 0 (only a hostile rms leads there).
TRIBUTARY_HD inline float clamp_to_grid(float y, float granularity) {
  const float low = y > 0.0f ? y : 0.0f;
  return low < granularity ? low : granularity;
}

// Goes up with the probability (y - lower) / gap: the expected place is y.
TRIBUTARY_HD inline std::uint8_t round_to_level(float y, const Cell& cell, std::uint32_t draw) {
  const float above = y - static_cast<float>(cell.lower);
  const bool up = uniform_01(draw) * static_cast<float>(cell.gap) < above;
  return static_cast<std::uint8_t>(cell.level + (up ? 1 : 0));
}

}  // namespace tributary::thc
