// The arithmetic of one element for the sparse codecs. It is the specification: SIMD and GPU
// kernels must produce the same bits for each element. The functions are pure. No operation here
// depends on a rounding mode or on fused multiplication.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "core/base/host_device.h"

namespace tributary::sparse {

constexpr std::uint32_t kMagnitudeMask = 0x7fffffffu;
constexpr std::uint32_t kInfinityBits = 0x7f800000u;  // magnitudes from here on are Inf and NaN

// |x| as an integer. Magnitudes have the order of the absolute values, including denormals.
TRIBUTARY_HD constexpr std::uint32_t magnitude_bits(float x) {
  return std::bit_cast<std::uint32_t>(x) & kMagnitudeMask;
}

// Limits x to the finite range of float32, so that an accumulated value cannot become infinite.
TRIBUTARY_HD constexpr float saturated(float x) {
  constexpr float kMax = std::numeric_limits<float>::max();
  const float low = x > -kMax ? x : -kMax;
  return low < kMax ? low : kMax;
}

// DGC's momentum correction: u = m u + x, v = v + u. Values to send are selected from v.
struct Momentum {
  float velocity;     // u
  float accumulated;  // v
};
TRIBUTARY_HD constexpr Momentum corrected(float x, float momentum, Momentum before) {
  const float velocity = saturated(momentum * before.velocity + x);
  return {velocity, saturated(before.accumulated + velocity)};
}

}  // namespace tributary::sparse
