// Signed levels at exactly `bits` bits each: a sign above bits - 1 bits of magnitude, one after the
// other from the lowest bit on. Eight levels fill `bits` whole bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tributary::quantize {

constexpr int kPackedBitsMin = 2;
constexpr int kPackedBitsMax = 8;

constexpr std::size_t packed_bytes(std::size_t levels, int bits) {
  return (levels * static_cast<std::size_t>(bits) + 7) / 8;
}

// The largest magnitude that fits: 1, 3, 7 … 127.
constexpr int level_max(int bits) { return (1 << (bits - 1)) - 1; }

// No level is larger than level_max(bits). Bits behind the last level are zero.
void pack_levels(std::span<const std::int8_t> levels, int bits, std::uint8_t* out);

// Every pattern is a level; of the two zeros the negative one is read like the other.
void unpack_levels(const std::uint8_t* in, int bits, std::span<std::int8_t> levels);

}  // namespace tributary::quantize
