// The arithmetic of THC for each element. It is the specification: SIMD and GPU kernels must
// produce the same bits.
//
// A block x of B values (a power of two) becomes levels in units of the grid:
//
//   rms      the root of the mean square of its values, the largest of all agents' (stage 0)
//   y        H (D x k) + g/2,   k = g / (2 t rms √B),   D the signs, H the ±1 Hadamard matrix
//   level    y clamped to [0, g] and rounded at random to a neighbour in the table
//   sum      of the contributors' T[level], an integer in [0, g c] for c contributors
//   x        D (H (2 sum - g c)) f,   f = t rms / (g √B)
//
// This is the paper's m + T[z] (M - m) / g with M = -m = t rms and an orthonormal rotation. H is
// applied as log2(B) rounds of butterflies (a, b) -> (a + b, a - b) with strides 1, 2, 4, ... B/2,
// in this order.
//
// block_range.h has the other ranges. Without rotation, H D and √B are left out.
//
// The functions are pure, check nothing and cannot fail. The caller guarantees what they require:
//
//   granularity     1 to kGranularityMax (table/table.h)
//   block           power of two, kBlockMin to kBlockMax (blocks/blocks.h); for the factors k and f
//                   1 without rotation
//   rms             for k and f at least kRmsMin; BlockRange::is_zero() finds the others
//   agent, agents   agent < agents
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "core/base/host_device.h"
#include "core/base/random.h"

namespace tributary::thc {

// Blocks with a smaller rms decode to zeros, and error feedback keeps their values. With this limit
// all factors are finite.
constexpr float kRmsMin = 0x1p-100f;

// The factor of a block before its squares are summed. It is 1 for usual magnitudes. Otherwise it
// is a power of two that brings the largest magnitude into [2, 4), so that the sum neither
// overflows nor underflows. Requires a largest magnitude of at least kRmsMin. For Inf and NaN the
// result has no meaning; the caller refuses such a block.
TRIBUTARY_HD inline float norm_scale(std::uint32_t largest_bits) {
  const float largest = std::bit_cast<float>(largest_bits);
  if (largest >= 0x1p-40f && largest < 0x1p40f) return 1.0f;
  return std::bit_cast<float>((255u - (largest_bits >> 23)) << 23);
}

// Number of parallel sums of squares. Element i is added to sum i mod kSquareLanes. The sums are
// then added as a tree, the upper half to the lower half.
constexpr std::size_t kSquareLanes = 32;

// The rms of a block from the sum of its scaled squares, limited to the largest float.
TRIBUTARY_HD inline float rms_of(float scaled_square_sum, std::size_t block, float scale) {
  const float root = square_root(scaled_square_sum / static_cast<float>(block));
  const float rms = scale == 1.0f ? root : root / scale;  // divisions are slow
  return rms < 0x1.fffffep127f ? rms : 0x1.fffffep127f;
}

// The factor k of the rotation when encoding is k = spread_scale() / rms. The scale is the same for
// all blocks of a size.
TRIBUTARY_HD inline float spread_scale(float granularity, float threshold, std::size_t block) {
  return granularity / (2.0f * threshold) / square_root(static_cast<float>(block));
}

// The part of f that is the same for all blocks of a size.
TRIBUTARY_HD inline float collect_divisor(float granularity, std::size_t block) {
  return granularity * square_root(static_cast<float>(block));
}

// The factor f of the rotation when decoding.
TRIBUTARY_HD inline float collect_factor(float granularity, float threshold, float rms,
                                         std::size_t block) {
  return rms / collect_divisor(granularity, block) * threshold;
}

// Bit i of a word is the sign of the word's element i.
constexpr std::size_t kSignsPerWord = 32;

TRIBUTARY_HD inline float signed_factor(float factor, std::uint32_t word, std::size_t element) {
  const std::uint32_t sign = (word >> (element % kSignsPerWord)) << 31;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(factor) ^ sign);
}

// The part of a grid cell's description that rounding uses.
struct Cell {
  std::uint8_t level;   // the table's last level that is not above the cell
  std::uint16_t lower;  // place of that level on the grid
  std::uint16_t gap;    // distance to the next level
};

// Derives an agent's own draw from the draw that all agents share: (draw ^ flip) + shift.
//
// The draws of the agents are spaced evenly on a circle. The common part of their coordinates is
// therefore rounded up by the right number of agents, not by a random number of them. If the number
// of agents is even, every other agent counts backwards from the shared draw. Each interval of the
// circle still contains one draw, and the sum of all draws is constant, so the individual parts
// cancel better too. Independent rounding has a stream for each agent and does not change its
// draws.
struct Rounding {
  StreamKey key = {};
  std::uint16_t flip = 0;
  std::uint16_t shift = 0;
};

TRIBUTARY_HD inline Rounding correlated_rounding(StreamKey shared, std::uint32_t agent,
                                                 std::uint32_t agents) {
  const bool backwards = agents % 2 == 0 && agent % 2 == 0;
  const std::uint64_t place = std::uint64_t{agent} + (backwards ? 1 : 0);
  return {shared, static_cast<std::uint16_t>(backwards ? 0xffffu : 0u),
          static_cast<std::uint16_t>((place << 16) / agents)};
}

// Each coordinate has 16 bits: a word's low half belongs to one, its high half to the sixteenth
// after it.
TRIBUTARY_HD inline std::uint16_t rounding_draw(const Rounding& rounding, std::uint32_t element) {
  const std::uint32_t word = random_bits(rounding.key, element / 32 * 16 + element % 16);
  const std::uint32_t half = (element & 16) != 0 ? word >> 16 : word;
  return static_cast<std::uint16_t>((half ^ rounding.flip) + rounding.shift);
}

// Clamps y to the grid. NaN, which only a hostile rms can cause, counts as 0.
TRIBUTARY_HD inline float clamp_to_grid(float y, float granularity) {
  const float low = y > 0.0f ? y : 0.0f;
  return low < granularity ? low : granularity;
}

// The place from which on the smallest draw rounds up: half a draw above the level. The probability
// of rounding up is then (y - lower) / gap to the nearest 2^-16, and a value on a level stays
// there.
TRIBUTARY_HD inline float least_to_go_up(const Cell& cell) {
  return static_cast<float>(cell.lower) + static_cast<float>(cell.gap) * 0x1p-17f;
}

// The part of the gap to the next level that one step of a draw stands for.
TRIBUTARY_HD inline float gap_per_draw(const Cell& cell) {
  return static_cast<float>(cell.gap) * 0x1p-16f;
}

TRIBUTARY_HD inline bool goes_up(float y, float up_from, float per_draw, std::uint16_t draw) {
  return static_cast<float>(draw) * per_draw < y - up_from;
}

TRIBUTARY_HD inline std::uint8_t round_to_level(float y, const Cell& cell, std::uint16_t draw) {
  return static_cast<std::uint8_t>(
      cell.level + (goes_up(y, least_to_go_up(cell), gap_per_draw(cell), draw) ? 1 : 0));
}

}  // namespace tributary::thc
