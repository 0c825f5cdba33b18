// Upper bounds for every data set, independent of what its files claim. They bound the memory that
// a damaged or hostile file can cause to be allocated.
//
// Every reader checks them before it allocates. A file beyond a bound is refused and never cut.
#pragma once

#include <cstdint>

namespace tributary {

// Features or tokens of one example.
inline constexpr std::uint32_t kExampleValuesMax = std::uint32_t{1} << 20;
// Labels are stored in 16 bits.
inline constexpr std::uint32_t kClassesMax = 65536;
// Number of classes that is assumed if a file of labels suggests fewer.
inline constexpr std::uint32_t kClassesUsual = 10;

}  // namespace tributary
