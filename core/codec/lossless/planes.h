// Splits float32 values into byte planes, which compress better than the values themselves.
//
// The bytes of a float32 differ in kind: exponents repeat, and the last bits of the mantissa are
// noise. A plane contains bytes of one kind. The result is the same on little-endian and big-endian
// machines.
#pragma once

#include <cassert>
#include <cstring>
#include <span>

#include "core/base/bytes/bytes.h"

namespace tributary::lossless {

// Writes the lowest byte of all values to `planes`, then the next byte of all values, and so on.
// `planes` must have four bytes per value. A compiler can vectorize both loops.
inline void split_planes(std::span<const float> values, MutableByteSpan planes) {
  assert(planes.size() == values.size_bytes());
  const std::size_t n = values.size();
  for (std::size_t i = 0; i < n; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(values[i]);
    planes[i] = static_cast<std::uint8_t>(bits);
    planes[n + i] = static_cast<std::uint8_t>(bits >> 8);
    planes[2 * n + i] = static_cast<std::uint8_t>(bits >> 16);
    planes[3 * n + i] = static_cast<std::uint8_t>(bits >> 24);
  }
}

// The inverse of split_planes().
inline void join_planes(ByteSpan planes, std::span<float> values) {
  assert(planes.size() == values.size_bytes());
  const std::size_t n = values.size();
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t bits = planes[i] | static_cast<std::uint32_t>(planes[n + i]) << 8 |
                               static_cast<std::uint32_t>(planes[2 * n + i]) << 16 |
                               static_cast<std::uint32_t>(planes[3 * n + i]) << 24;
    values[i] = std::bit_cast<float>(bits);
  }
}

}  // namespace tributary::lossless
