// The arithmetic of one element, and with it the specification: what a SIMD kernel or a GPU does
// for an element must give these bits.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "core/base/host_device.h"
#include "core/base/random.h"

namespace tributary::quantize {

constexpr std::uint32_t kMagnitudeMask = 0x7fffffffu;
constexpr std::uint32_t kInfinityBits = 0x7f800000u;  // magnitudes from here on are Inf and NaN

TRIBUTARY_HD inline std::uint32_t magnitude_bits(float x) {
  return std::bit_cast<std::uint32_t>(x) & kMagnitudeMask;
}

// float16, rounded to nearest even. What is too large becomes the largest finite half, so that a
// decoded update is always finite and error feedback sends the rest later.
TRIBUTARY_HD inline std::uint16_t half_of(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t magnitude = bits & kMagnitudeMask;
  std::uint32_t half;
  if (magnitude >= 0x477ff000u) {  // 65520 and above would round to infinity
    half = 0x7bffu;
  } else if (magnitude < 0x38800000u) {
    // Below the smallest normal half, 2^-14: one unit in the last place of 0.5f is one unit of a
    // denormal half, so that adding 0.5 rounds exactly there.
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) -
           std::bit_cast<std::uint32_t>(0.5f);
  } else {
    half = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  }
  return static_cast<std::uint16_t>(half | ((bits >> 16) & 0x8000u));
}

// Exact. Inf and NaN (magnitudes from 0x7c00 on) are none of ours: a decoder refuses them.
TRIBUTARY_HD inline float float_of_half(std::uint16_t half) {
  const std::uint32_t shifted = static_cast<std::uint32_t>(half & 0x7fffu) << 13;
  const float magnitude = std::bit_cast<float>(shifted) * 0x1p112f;
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
}

// bfloat16, rounded to nearest even, saturating like half_of.
TRIBUTARY_HD inline std::uint16_t bfloat_of(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t magnitude = bits & kMagnitudeMask;
  const std::uint32_t rounded = (magnitude + 0x7fffu + ((magnitude >> 16) & 1u)) >> 16;
  const std::uint32_t finite = rounded < 0x7f7fu ? rounded : 0x7f7fu;
  return static_cast<std::uint16_t>(finite | ((bits >> 16) & 0x8000u));
}

TRIBUTARY_HD inline float float_of_bfloat(std::uint16_t bfloat) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bfloat) << 16);
}

// 8-bit integers: a block's values are multiples of step = scale / 127, where the scale is the
// block's largest magnitude, held within bounds that keep 1 / step and 127 · step finite. A block
// that lies wholly below kScaleMin decodes to zeros; what saturates above kScaleMax stays in the
// residual like any other error.
constexpr float kScaleMin = 0x1p-100f;
constexpr float kScaleMax = 0x1p+127f;
constexpr float kLevels = 127.0f;

struct BlockScale {
  float levels_per_unit;  // multiply to quantize; 0 for a block of zeros
  float step;             // multiply to get back
};

TRIBUTARY_HD inline BlockScale block_scale(float largest_magnitude) {
  if (!(largest_magnitude >= kScaleMin)) return {0.0f, 0.0f};
  const float scale = largest_magnitude < kScaleMax ? largest_magnitude : kScaleMax;
  return {kLevels / scale, scale / kLevels};
}

TRIBUTARY_HD inline float clamp_level(float level) {
  const float low = level > -kLevels ? level : -kLevels;
  return low < kLevels ? low : kLevels;
}

TRIBUTARY_HD inline std::int8_t nearest_level(float x, float levels_per_unit) {
  return static_cast<std::int8_t>(rintf(clamp_level(x * levels_per_unit)));
}

// Rounds up with the probability of the fraction: the expected value is x.
TRIBUTARY_HD inline std::int8_t random_level(float x, float levels_per_unit, std::uint32_t draw) {
  const float level = floorf(clamp_level(x * levels_per_unit) + uniform_01(draw));
  return static_cast<std::int8_t>(clamp_level(level));
}

}  // namespace tributary::quantize
