// Looks 4-bit levels up in a table of 16 places and adds the places to sums: the inner loop of an
// aggregator. Element 2i has the low nibble of byte i.
//
// The caller guarantees: `count` is a multiple of 64, the arrays do not overlap, and no sum exceeds
// its type. Pure; threads may call it for different sums.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tributary::in_network {

// T[level] of a table, split for look-ups in registers.
struct Places {
  alignas(16) std::array<std::uint8_t, 16> low = {};   // lower 8 bits
  alignas(16) std::array<std::uint8_t, 16> high = {};  // upper 8 bits

  static Places of(const std::array<std::uint16_t, 16>& places) {
    Places split;
    for (std::size_t i = 0; i < places.size(); ++i) {
      split.low[i] = static_cast<std::uint8_t>(places[i] & 0xff);
      split.high[i] = static_cast<std::uint8_t>(places[i] >> 8);
    }
    return split;
  }
};

// sum = or += T[level]. Sums of 16 bits are little-endian; sums are aligned to 16 bytes.
void set_levels8(const std::uint8_t* packed, std::size_t count, const Places& places,
                 std::uint8_t* sums);
void add_levels8(const std::uint8_t* packed, std::size_t count, const Places& places,
                 std::uint8_t* sums);
void set_levels16(const std::uint8_t* packed, std::size_t count, const Places& places,
                  std::uint8_t* sums);
void add_levels16(const std::uint8_t* packed, std::size_t count, const Places& places,
                  std::uint8_t* sums);

}  // namespace tributary::in_network
