// Which instruction set the SIMD kernels of all codecs run on, on this machine.
#pragma once

#include <string_view>

namespace tributary {

// Highway's name for it: "AVX3_DL", "NEON", ...
std::string_view simd_target();

}  // namespace tributary
