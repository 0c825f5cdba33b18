// Under a sanitizer tests take several times as long. A test that repeats one thing with many seeds
// or inputs uses fewer of them there; the preset dev has all.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/memory_checked.h"

namespace tributary {

#if defined(__SANITIZE_THREAD__)
#define TRIBUTARY_THREADS_ARE_CHECKED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TRIBUTARY_THREADS_ARE_CHECKED 1
#endif
#endif
#ifndef TRIBUTARY_THREADS_ARE_CHECKED
#define TRIBUTARY_THREADS_ARE_CHECKED 0
#endif

inline constexpr bool kSanitized = kMemoryIsChecked || TRIBUTARY_THREADS_ARE_CHECKED != 0;

// Seeds 1 to the result are tried: all, or a quarter of them under a sanitizer.
constexpr std::uint64_t seeds_of(std::uint64_t all) { return kSanitized ? (all + 3) / 4 : all; }

}  // namespace tributary
