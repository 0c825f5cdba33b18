// One bit per value, set where the sign is: bit i%8 of byte i/8. The loops are plain: they run at
// the speed of memory as they are, so the SIMD backend uses them too.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "core/base/bytes/bytes.h"

namespace tributary::signs {

constexpr std::size_t sign_bytes(std::size_t values) { return (values + 7) / 8; }

inline std::uint32_t sign_of(float x) { return std::bit_cast<std::uint32_t>(x) >> 31; }

// Bits behind the last value are zero. Returns false where a value is NaN or Inf.
inline bool pack_signs(std::span<const float> values, std::uint8_t* bits) {
  std::uint32_t largest = 0;
  std::size_t i = 0;
  for (; i + 8 <= values.size(); i += 8) {
    std::uint32_t byte = 0;
    for (std::uint32_t j = 0; j < 8; ++j) {
      const auto pattern = std::bit_cast<std::uint32_t>(values[i + j]);
      byte |= (pattern >> 31) << j;
      largest = std::max(largest, pattern & 0x7fffffffu);
    }
    bits[i / 8] = static_cast<std::uint8_t>(byte);
  }
  if (i < values.size()) bits[i / 8] = 0;
  for (; i < values.size(); ++i) {
    const auto pattern = std::bit_cast<std::uint32_t>(values[i]);
    bits[i / 8] = static_cast<std::uint8_t>(bits[i / 8] | (pattern >> 31) << (i % 8));
    largest = std::max(largest, pattern & 0x7fffffffu);
  }
  return largest < 0x7f800000u;
}

// values[i] = bit ? negative : positive.
inline void unpack_signs(const std::uint8_t* bits, float positive, float negative,
                         std::span<float> values) {
  const std::uint32_t base = std::bit_cast<std::uint32_t>(positive);
  const std::uint32_t change = base ^ std::bit_cast<std::uint32_t>(negative);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t mask = 0u - (static_cast<std::uint32_t>(bits[i / 8]) >> (i % 8) & 1u);
    values[i] = std::bit_cast<float>(base ^ (change & mask));
  }
}

// Whether the bits behind the last value are zero, as an encoder leaves them.
inline bool padding_is_zero(ByteSpan bits, std::size_t values) {
  return values % 8 == 0 || bits.back() >> (values % 8) == 0;
}

}  // namespace tributary::signs
