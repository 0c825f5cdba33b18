// CUDA's words for kernels that a host compiler compiles: qualifiers, built-in variables and
// functions, vector types. Only launch.h includes it.
//
// It has what the kernels use, and nothing else. Warp functions take the full mask only. Shared
// variables are one set for each OS thread that runs blocks, and keep the values of the block
// before, as they may on a GPU.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "core/codec/cuda/emulated/grid.h"

#define __global__
#define __device__
#define __shared__ static thread_local
#define __launch_bounds__(...)

#define threadIdx (::tributary::emulated::thread_index())
#define blockIdx (::tributary::emulated::block_index())
#define blockDim (::tributary::emulated::block_size())
#define gridDim (::tributary::emulated::grid_size())

struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(16) int4 {
  int x, y, z, w;
};
struct alignas(8) short4 {
  short x, y, z, w;
};
struct alignas(8) ushort4 {
  unsigned short x, y, z, w;
};
struct alignas(4) char4 {
  signed char x, y, z, w;
};

inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline ushort4 make_ushort4(unsigned short x, unsigned short y, unsigned short z,
                            unsigned short w) {
  return {x, y, z, w};
}
inline char4 make_char4(signed char x, signed char y, signed char z, signed char w) {
  return {x, y, z, w};
}

inline std::uint32_t max(std::uint32_t a, std::uint32_t b) { return a < b ? b : a; }
inline std::uint32_t min(std::uint32_t a, std::uint32_t b) { return b < a ? b : a; }

// The place of a call stands for its identity: threads that meet must come from one place.
inline void __syncthreads(unsigned site = __builtin_LINE()) {
  tributary::emulated::wait_for_block(site);
}

inline std::uint32_t __reduce_max_sync(unsigned mask, std::uint32_t value,
                                       unsigned site = __builtin_LINE()) {
  const std::uint32_t* const values = tributary::emulated::exchange_in_warp(mask, value, site);
  std::uint32_t largest = 0;
  for (unsigned lane = 0; lane < tributary::emulated::kWarp; ++lane) {
    largest = max(largest, values[lane]);
  }
  return largest;
}

template <typename T>
T __shfl_sync(unsigned mask, T value, unsigned lane, unsigned site = __builtin_LINE()) {
  return std::bit_cast<T>(tributary::emulated::exchange_in_warp(
      mask, std::bit_cast<std::uint32_t>(value), site)[lane % tributary::emulated::kWarp]);
}
template <typename T>
T __shfl_xor_sync(unsigned mask, T value, unsigned lanes, unsigned site = __builtin_LINE()) {
  return __shfl_sync(mask, value, threadIdx.x ^ lanes, site);
}

// A real atomic operation, so that the thread sanitizer knows it.
inline std::uint32_t atomicMax(std::uint32_t* at, std::uint32_t value) {
  std::uint32_t old = __atomic_load_n(at, __ATOMIC_RELAXED);
  while (old < value &&
         !__atomic_compare_exchange_n(at, &old, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return old;
}
