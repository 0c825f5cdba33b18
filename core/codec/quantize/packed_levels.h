// Packs signed levels at exactly `bits` bits each: bits - 1 bits of magnitude below a sign bit, in
// ascending order from the lowest bit. Eight levels fill `bits` whole bytes.
//
// The functions are pure. `bits` is kPackedBitsMin to kPackedBitsMax.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tributary::quantize {

constexpr int kPackedBitsMin = 2;
constexpr int kPackedBitsMax = 8;

// Size of `levels` packed levels, in bytes.
constexpr std::size_t packed_bytes(std::size_t levels, int bits) {
  return (levels * static_cast<std::size_t>(bits) + 7) / 8;
}

// The largest magnitude that `bits` bits can hold: 1, 3, 7 … 127.
constexpr int level_max(int bits) { return (1 << (bits - 1)) - 1; }

// Writes packed_bytes(levels.size(), bits) bytes. No level may exceed level_max(bits) in magnitude.
// Unused bits after the last level are zero.
void pack_levels(std::span<const std::int8_t> levels, int bits, std::uint8_t* out);

// Reads levels from packed_bytes(levels.size(), bits) bytes. Every pattern is valid; a negative
// zero is read as zero.
void unpack_levels(const std::uint8_t* in, int bits, std::span<std::int8_t> levels);

}  // namespace tributary::quantize
