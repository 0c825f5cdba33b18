// Tests that check memory and undefined behaviour take several times as long. A test that repeats
// one thing with many seeds or inputs uses fewer of them there; the preset dev has all.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/memory_checked.h"

namespace tributary {

// Seeds 1 to the result are tried: all, or a quarter of them where memory is checked.
constexpr std::uint64_t seeds_of(std::uint64_t all) {
  return kMemoryIsChecked ? (all + 3) / 4 : all;
}

}  // namespace tributary
