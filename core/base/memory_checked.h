// Whether this build checks memory and undefined behaviour.
#pragma once

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

}  // namespace tributary
