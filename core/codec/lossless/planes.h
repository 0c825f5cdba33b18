// A float32's bytes are unlike one another: its exponent repeats, its last mantissa bits are noise.
// Byte planes put like with like.
#pragma once

#include <cassert>
#include <cstring>
#include <span>

#include "core/base/bytes/bytes.h"

namespace tributary::lossless {

// planes: all first bytes, then all second bytes, and so on. The loops are plain enough for the
// compiler to make SIMD of them.
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
