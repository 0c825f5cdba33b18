// CUDA's words for kernels that a host compiler compiles: qualifiers, built-in variables and
// functions, vector types. Only launch.h includes it.
//
// It has what the kernels use, and nothing else. Warp functions take the full mask only. Shared
// variables keep the values of the block before, as they may on a GPU. One grid runs at a time;
// under the thread sanitizer each of the two OS threads that run its blocks has a set of them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "core/codec/cuda/emulated/grid.h"

#define __global__
#define __device__
#define __forceinline__ inline
// Not thread-local where it can be avoided: every thread of a program would need room for it, and
// libraries start threads with small stacks.
#ifdef TRIBUTARY_GRID_OF_TWO_THREADS
#define __shared__ static thread_local
#else
#define __shared__ static
#endif
#define __launch_bounds__(...)

#define threadIdx (::tributary::emulated::thread_index())
#define blockIdx (::tributary::emulated::block_index())
#define blockDim (::tributary::emulated::block_size())
#define gridDim (::tributary::emulated::grid_size())

struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(8) uint2 {
  unsigned x, y;
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
struct alignas(4) uchar4 {
  unsigned char x, y, z, w;
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

inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline uchar4 make_uchar4(unsigned char x, unsigned char y, unsigned char z, unsigned char w) {
  return {x, y, z, w};
}

inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline int __popc(unsigned bits) { return std::popcount(bits); }
inline int __clz(unsigned bits) { return std::countl_zero(bits); }
inline int __ffs(unsigned bits) { return bits == 0 ? 0 : std::countr_zero(bits) + 1; }

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

// The lanes below `lanes` keep their own value.
template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned lanes, unsigned site = __builtin_LINE()) {
  const unsigned lane = threadIdx.x % tributary::emulated::kWarp;
  return __shfl_sync(mask, value, lane < lanes ? lane : lane - lanes, site);
}
// The last `lanes` lanes keep their own value.
template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned lanes, unsigned site = __builtin_LINE()) {
  const unsigned lane = threadIdx.x % tributary::emulated::kWarp;
  return __shfl_sync(mask, value, lane + lanes < tributary::emulated::kWarp ? lane + lanes : lane,
                     site);
}
inline unsigned __ballot_sync(unsigned mask, bool predicate, unsigned site = __builtin_LINE()) {
  const std::uint32_t* const values =
      tributary::emulated::exchange_in_warp(mask, predicate ? 1 : 0, site);
  unsigned bits = 0;
  for (unsigned lane = 0; lane < tributary::emulated::kWarp; ++lane) bits |= values[lane] << lane;
  return bits;
}
inline std::uint32_t __reduce_add_sync(unsigned mask, std::uint32_t value,
                                       unsigned site = __builtin_LINE()) {
  const std::uint32_t* const values = tributary::emulated::exchange_in_warp(mask, value, site);
  std::uint32_t sum = 0;
  for (unsigned lane = 0; lane < tributary::emulated::kWarp; ++lane) sum += values[lane];
  return sum;
}
inline std::uint32_t __reduce_or_sync(unsigned mask, std::uint32_t value,
                                      unsigned site = __builtin_LINE()) {
  const std::uint32_t* const values = tributary::emulated::exchange_in_warp(mask, value, site);
  std::uint32_t bits = 0;
  for (unsigned lane = 0; lane < tributary::emulated::kWarp; ++lane) bits |= values[lane];
  return bits;
}
// Orders the memory accesses of a warp.
inline void __syncwarp(unsigned mask = 0xffffffffu, unsigned site = __builtin_LINE()) {
  tributary::emulated::exchange_in_warp(mask, 0, site);
}

// Real atomic operations, so that the thread sanitizer knows them.
inline std::uint32_t atomicAdd(std::uint32_t* at, std::uint32_t value) {
  return __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
}
inline std::uint32_t atomicOr(std::uint32_t* at, std::uint32_t value) {
  return __atomic_fetch_or(at, value, __ATOMIC_RELAXED);
}
inline std::uint32_t atomicMax(std::uint32_t* at, std::uint32_t value) {
  std::uint32_t old = __atomic_load_n(at, __ATOMIC_RELAXED);
  while (old < value &&
         !__atomic_compare_exchange_n(at, &old, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return old;
}
