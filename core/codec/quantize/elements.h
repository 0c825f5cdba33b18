// The arithmetic of one element for the fixed-width codecs. It is the specification: SIMD and GPU
// kernels must produce the same bits for each element.
//
// The functions are pure. They must be compiled without contraction of multiply and add, and with
// the default rounding mode.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "core/base/host_device.h"
#include "core/base/random.h"

namespace tributary::quantize {

// Converts to float16, rounded to nearest even. Larger values become the largest finite half, so
// that a decoded update is always finite and error feedback sends the rest later.
TRIBUTARY_HD inline std::uint16_t half_of(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t magnitude = bits & kMagnitudeMask;
  std::uint32_t half;
  if (magnitude >= 0x477ff000u) {  // 65520 and above would round to infinity
    half = 0x7bffu;
  } else if (magnitude < 0x38800000u) {
    // Below the smallest normal half, 2^-14. One unit in the last place of 0.5f equals one unit of
    // a denormal half, so adding 0.5 rounds at exactly that position.
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) -
           std::bit_cast<std::uint32_t>(0.5f);
  } else {
    half = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  }
  return static_cast<std::uint16_t>(half | ((bits >> 16) & 0x8000u));
}

// Exact for finite halves. A decoder refuses Inf and NaN (magnitudes from 0x7c00 on), because
// half_of() never writes them.
TRIBUTARY_HD inline float float_of_half(std::uint16_t half) {
  const std::uint32_t shifted = static_cast<std::uint32_t>(half & 0x7fffu) << 13;
  // The factor corrects the difference between the exponent biases, 127 - 15 = 112. It also
  // converts denormal halves.
  const float magnitude = std::bit_cast<float>(shifted) * 0x1p112f;
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
}

// Converts to bfloat16, rounded to nearest even. It saturates like half_of().
TRIBUTARY_HD inline std::uint16_t bfloat_of(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t magnitude = bits & kMagnitudeMask;
  const std::uint32_t rounded = (magnitude + 0x7fffu + ((magnitude >> 16) & 1u)) >> 16;
  const std::uint32_t finite = rounded < 0x7f7fu ? rounded : 0x7f7fu;
  return static_cast<std::uint16_t>(finite | ((bits >> 16) & 0x8000u));
}

// Exact.
TRIBUTARY_HD inline float float_of_bfloat(std::uint16_t bfloat) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bfloat) << 16);
}

// 8-bit integers: the values of a block are multiples of step = scale / 127. The scale is the
// largest magnitude of the block, limited so that 1 / step and 127 · step are finite. A block
// entirely below kScaleMin decodes to zeros. The excess above kScaleMax stays in the residual like
// any other error.
constexpr float kScaleMin = 0x1p-100f;
constexpr float kScaleMax = 0x1p+127f;
constexpr float kLevels = 127.0f;

struct BlockScale {
  float levels_per_unit;  // factor for quantization; 0 for a block of zeros
  float step;             // factor for decoding
};

// The comparisons are written so that NaN also gives zeros.
TRIBUTARY_HD inline BlockScale block_scale(float largest_magnitude) {
  if (!(largest_magnitude >= kScaleMin)) return {0.0f, 0.0f};
  const float scale = largest_magnitude < kScaleMax ? largest_magnitude : kScaleMax;
  return {kLevels / scale, scale / kLevels};
}

TRIBUTARY_HD inline float clamp_level(float level) {
  const float low = level > -kLevels ? level : -kLevels;
  return low < kLevels ? low : kLevels;
}

// Rounds to nearest even.
TRIBUTARY_HD inline std::int8_t nearest_level(float x, float levels_per_unit) {
  return static_cast<std::int8_t>(rintf(clamp_level(x * levels_per_unit)));
}

// Rounds up with a probability equal to the fraction, so the expected value is x. The second clamp
// is needed because rounding of the addition can reach the next level.
TRIBUTARY_HD inline std::int8_t random_level(float x, float levels_per_unit, std::uint32_t draw) {
  const float level = floorf(clamp_level(x * levels_per_unit) + uniform_01(draw));
  return static_cast<std::int8_t>(clamp_level(level));
}

// QSGD: the values of a block are multiples of norm / s; s is the largest level. Norms above this
// value saturate. With this limit the sum over the maximum number of agents fits in float32, even
// if every level is far larger than its value. A block with a norm below kScaleMin decodes to
// zeros.
constexpr float kNormMax = 0x1p107f;

TRIBUTARY_HD inline BlockScale norm_scale(float norm, int levels) {
  if (!(norm >= kScaleMin)) return {0.0f, 0.0f};
  const auto most = static_cast<float>(levels);
  return {most / norm, norm / most};
}

// Rounding to float32 may make the length smaller than the block's only value, so levels are
// clamped later.
TRIBUTARY_HD inline float euclidean_norm(double sum_of_squares) {
  const double length = sqrt(sum_of_squares);
  const auto most = static_cast<double>(kNormMax);
  return static_cast<float>(length < most ? length : most);
}
TRIBUTARY_HD inline float largest_norm(std::uint32_t largest_magnitude) {
  const auto largest = std::bit_cast<float>(largest_magnitude);
  return largest < kNormMax ? largest : kNormMax;
}

TRIBUTARY_HD inline std::int8_t clamp_to(std::int8_t level, int most) {
  const int low = level > -most ? level : -most;
  return static_cast<std::int8_t>(low < most ? low : most);
}

}  // namespace tributary::quantize
