// Reports the instruction set that the SIMD kernels of all codecs use on this machine. The result
// is the same for the life of the process.
#pragma once

#include <string_view>

namespace tributary {

// The name that Highway gives it, such as "AVX3_DL" or "NEON". Any thread may call it.
std::string_view simd_target();

}  // namespace tributary
