// How many bits a number takes.
#pragma once

#include <bit>
#include <cstdint>

namespace tributary {

// The bits needed to tell the values 0..value_max apart; 0 needs none.
constexpr unsigned bits_for(std::uint64_t value_max) {
  return static_cast<unsigned>(std::bit_width(value_max));
}

}  // namespace tributary
