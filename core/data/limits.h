// What no data set may exceed, whatever its file says.
#pragma once

#include <cstdint>

namespace tributary {

inline constexpr std::uint32_t kExampleValuesMax = std::uint32_t{1} << 20;
inline constexpr std::uint32_t kClassesMax = 65536;
inline constexpr std::uint32_t kClassesUsual = 10;

}  // namespace tributary
