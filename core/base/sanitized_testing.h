// Whether this build checks memory and undefined behaviour, which takes several times as long. A
// test that repeats one thing with many seeds or inputs uses fewer of them there; the preset dev
// has all.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tributary {

#ifdef __SANITIZE_ADDRESS__
inline constexpr bool kMemoryIsChecked = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool kMemoryIsChecked = true;
#else
inline constexpr bool kMemoryIsChecked = false;
#endif
#else
inline constexpr bool kMemoryIsChecked = false;
#endif

// Seeds 1 to the result are tried: all, or a quarter of them where memory is checked.
constexpr std::uint64_t seeds_of(std::uint64_t all) {
  return kMemoryIsChecked ? (all + 3) / 4 : all;
}

}  // namespace tributary
