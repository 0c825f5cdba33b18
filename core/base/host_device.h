// Marks a per-element function that is compiled for the host and, by a compiler for CUDA, also for
// the GPU. Such a function must not allocate, throw or use the library beyond what such a compiler
// accepts in device code. Below are the functions for which device code needs other means.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

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

constexpr std::uint32_t kMagnitudeMask = 0x7fffffffu;
constexpr std::uint32_t kInfinityBits = 0x7f800000u;  // magnitudes from here on are Inf and NaN

// The bits of |x|. As integers they have the order of the magnitudes, with denormals at the bottom
// and Inf and NaN at the top.
TRIBUTARY_HD inline std::uint32_t magnitude_bits(float x) {
  std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
#if defined(__clang__) && defined(__CUDA_ARCH__)
  // Clang's device code would take |x| as a float, and a GPU may replace the bits of a NaN there.
  asm("" : "+r"(bits));
#endif
  return bits & kMagnitudeMask;
}

}  // namespace tributary
