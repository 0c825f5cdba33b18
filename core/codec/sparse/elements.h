// The arithmetic of one element, and with it the specification: what a SIMD kernel or a GPU does
// for an element must give these bits.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "core/base/host_device.h"

namespace tributary::sparse {

constexpr std::uint32_t kMagnitudeMask = 0x7fffffffu;
constexpr std::uint32_t kInfinityBits = 0x7f800000u;  // magnitudes from here on are Inf and NaN

// |x| as an integer: magnitudes are ordered like the numbers themselves, denormals included.
TRIBUTARY_HD constexpr std::uint32_t magnitude_bits(float x) {
  return std::bit_cast<std::uint32_t>(x) & kMagnitudeMask;
}

// Within the finite range: an accumulated value that would leave it stays at its end.
TRIBUTARY_HD constexpr float saturated(float x) {
  constexpr float kMax = std::numeric_limits<float>::max();
  const float low = x > -kMax ? x : -kMax;
  return low < kMax ? low : kMax;
}

// DGC's momentum correction: u = m u + x, v = v + u. It is v that values are selected from.
struct Momentum {
  float velocity;     // u
  float accumulated;  // v
};
TRIBUTARY_HD constexpr Momentum corrected(float x, float momentum, Momentum before) {
  const float velocity = saturated(momentum * before.velocity + x);
  return {velocity, saturated(before.accumulated + velocity)};
}

}  // namespace tributary::sparse
