// Packs the signs of float32 values as one bit per value: bit i % 8 of byte i / 8 is set if value i
// has a sign bit.
//
// The scalar and the SIMD backend share these loops: compiled as they are, they run at memory
// speed.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "core/base/bytes/bytes.h"
#include "core/base/host_device.h"
#include "core/codec/signs/elements.h"

namespace tributary::signs {

// Number of bytes for the signs of `values` values.
constexpr std::size_t sign_bytes(std::size_t values) { return (values + 7) / 8; }

// Whether the largest magnitude of some values, as bits, is that of a number.
constexpr bool is_finite(std::uint32_t largest) { return largest < kInfinityBits; }

// Writes the sign bits; unused bits of the last byte are zero. Returns false if any value is NaN or
// Inf.
inline bool pack_signs(std::span<const float> values, std::uint8_t* bits) {
  std::uint32_t largest = 0;
  std::size_t i = 0;
  for (; i + 8 <= values.size(); i += 8) {
    std::uint32_t byte = 0;
    for (std::uint32_t j = 0; j < 8; ++j) {
      const auto pattern = std::bit_cast<std::uint32_t>(values[i + j]);
      byte |= (pattern >> 31) << j;
      largest = std::max(largest, magnitude_bits(values[i + j]));
    }
    bits[i / 8] = static_cast<std::uint8_t>(byte);
  }
  if (i < values.size()) bits[i / 8] = 0;
  for (; i < values.size(); ++i) {
    const auto pattern = std::bit_cast<std::uint32_t>(values[i]);
    bits[i / 8] = static_cast<std::uint8_t>(bits[i / 8] | (pattern >> 31) << (i % 8));
    largest = std::max(largest, magnitude_bits(values[i]));
  }
  return is_finite(largest);
}

// Sets values[i] to `negative` if bit i is set, and otherwise to `positive`.
inline void unpack_signs(const std::uint8_t* bits, float positive, float negative,
                         std::span<float> values) {
  const std::uint32_t base = std::bit_cast<std::uint32_t>(positive);
  const std::uint32_t change = base ^ std::bit_cast<std::uint32_t>(negative);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t mask = 0u - (static_cast<std::uint32_t>(bits[i / 8]) >> (i % 8) & 1u);
    values[i] = std::bit_cast<float>(base ^ (change & mask));
  }
}

// Whether the unused bits of the last byte are zero, as an encoder writes them. `bits` may have
// other data before them; only its last byte is read. It must not be empty unless values % 8 is 0.
inline bool padding_is_zero(ByteSpan bits, std::size_t values) {
  return values % 8 == 0 || bits.back() >> (values % 8) == 0;
}

}  // namespace tributary::signs
