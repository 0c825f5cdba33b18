// The number of bits that a value requires. All functions are pure. They are evaluated at compile
// time where possible.
#pragma once

#include <bit>
#include <cstdint>

namespace tributary {

// Returns the number of bits that distinguish the values 0..value_max; 0 for value_max = 0.
constexpr unsigned bits_for(std::uint64_t value_max) {
  return static_cast<unsigned>(std::bit_width(value_max));
}

}  // namespace tributary
