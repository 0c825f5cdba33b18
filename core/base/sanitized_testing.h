// Under a sanitizer tests take several times as long. A test that repeats one thing with many seeds
// or inputs uses fewer of them there; the preset dev has all.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/memory_checked.h"

namespace tributary {

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TRIBUTARY_THREADS_ARE_CHECKED
#endif
#endif

#ifdef TRIBUTARY_THREADS_ARE_CHECKED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = kMemoryIsChecked;
#endif

// Seeds 1 to the result are tried: all, or a quarter of them under a sanitizer.
constexpr std::uint64_t seeds_of(std::uint64_t all) { return kSanitized ? (all + 3) / 4 : all; }

}  // namespace tributary
