// Marks a per-element function that is compiled for the host and, by a compiler for CUDA, also for
// the GPU. Such a function must not allocate, throw or use the library beyond what such a compiler
// accepts in device code.
#pragma once

#include <cmath>

#ifdef __CUDACC__
#define TRIBUTARY_HD __host__ __device__
#else
#define TRIBUTARY_HD
#endif

namespace tributary {

// The square root with the rounding of IEEE 754. In clang's device code sqrtf() is an
// approximation.
TRIBUTARY_HD inline float square_root(float x) {
#ifdef __CUDA_ARCH__
  return __fsqrt_rn(x);
#else
  return std::sqrt(x);
#endif
}

}  // namespace tributary
