// Converts a number to a digit of -1, 0 or 1 and back. It is the specification of this family's
// arithmetic; SIMD kernels must produce the same bits. The functions are pure.
//
// A digit is decided by comparison with a level that is computed once per bucket, so that no
// division is made per value.
#pragma once

#include <bit>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/base/host_device.h"
#include "core/base/random.h"

namespace tributary::threelc {

// M = s · max|x|, the decoded value of the digit 1. It saturates, so that decoded values are
// finite; error feedback sends the rest later.
TRIBUTARY_HD inline float unit_of(float largest_magnitude, float sparsity) {
  const float unit = largest_magnitude * sparsity;
  return unit < FLT_MAX ? unit : FLT_MAX;
}

// Limits M to `sparsity` * `clip` root mean squares of `count` values. The result does not decrease
// if `squares` grows.
TRIBUTARY_HD inline float clipped_unit(float unit, double squares, std::size_t count,
                                       float sparsity, double clip) {
  const double root_mean_square = sqrt(squares / static_cast<double>(count));
  const double clipped = clip * static_cast<double>(sparsity) * root_mean_square;
  return clipped < static_cast<double>(unit) ? static_cast<float>(clipped) : unit;
}

// A digit is decided by one level: it is 1 above the level, -1 below its negative, and otherwise 0.
TRIBUTARY_HD inline int digit_of(float x, float level) {
  return static_cast<int>(x > level) - static_cast<int>(x < -level);
}

// The level for round(x / M) with halves away from zero. The digit is then 1 for x >= M / 2, so the
// level is the largest float below M / 2. Halving is exact except for denormals, which are
// multiples of 2^-149; there the bits count the multiples. With M = 0, no value reaches the level.
TRIBUTARY_HD inline float nearest_level(float unit) {
  constexpr std::uint32_t kHalvesExactly = 0x01000000u;  // 2^-125
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(unit);
  if (bits == 0) return FLT_MAX;
  const std::uint32_t half =
      bits < kHalvesExactly ? (bits + 1) / 2 : std::bit_cast<std::uint32_t>(unit * 0.5f);
  return std::bit_cast<float>(half - 1);
}

// The level for a digit that is the sign of x with probability |x| / M, so the expected value is x.
// For |x| > M the digit is always the sign.
TRIBUTARY_HD inline float random_level(float unit, std::uint32_t draw) {
  return uniform_01(draw) * unit;
}

// The negative of a digit's decoded value. A value is 0 minus this, and a sum is updated by
// subtracting it. Subtracting +0 is the only float operation that leaves every sum unchanged,
// including -0.
TRIBUTARY_HD inline float negated_value(int digit, float unit) {
  return digit == 0 ? 0.0f : digit > 0 ? -unit : unit;
}

}  // namespace tributary::threelc
