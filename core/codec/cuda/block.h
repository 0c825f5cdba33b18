// Parts of kernels that several families use: loads and stores of four values, and the maximum, sum
// and scan of a block of threads. Only .cu files and their tests include it.
//
// The functions of a block must be called by all of its kThreads threads.
#pragma once

#include "core/codec/cuda/launch.h"

namespace tributary::TRIBUTARY_DEVICE {

// The thread sanitizer's build has smaller blocks (CMakeLists.txt).
#ifndef TRIBUTARY_KERNEL_THREADS
#define TRIBUTARY_KERNEL_THREADS 256
#endif
inline constexpr unsigned kThreads = TRIBUTARY_KERNEL_THREADS;
inline constexpr unsigned kWarpThreads = 32;
inline constexpr unsigned kWarps = kThreads / kWarpThreads;
inline constexpr unsigned kAllLanes = 0xffffffffu;
inline constexpr unsigned kPerThread = 4;  // one 16-byte load

// Clang keeps more values in registers than nvcc, so that too few blocks fit into a multiprocessor.
// With this bound so many fit; nvcc chooses itself.
#if defined(__clang__)
#define TRIBUTARY_BLOCKS_BY_CLANG(blocks) __launch_bounds__(kThreads, blocks)
#else
#define TRIBUTARY_BLOCKS_BY_CLANG(blocks)
#endif

// Clang 19's headers pass the mask of these functions as the value of the instruction, and the
// value as its mask, so that a GPU stops with an illegal instruction. Its builtins take the
// operands as the instruction does.
#if defined(__clang__) && defined(__CUDA__)
#define __reduce_max_sync(mask, value) __nvvm_redux_sync_umax(value, mask)
#define __reduce_add_sync(mask, value) \
  static_cast<std::uint32_t>(__nvvm_redux_sync_add(static_cast<int>(value), static_cast<int>(mask)))
#define __reduce_or_sync(mask, value) \
  static_cast<std::uint32_t>(__nvvm_redux_sync_or(static_cast<int>(value), static_cast<int>(mask)))
#endif

// The vector type of four values, for one load or store.
template <typename T>
struct QuadOf;
template <>
struct QuadOf<float> {
  using Type = float4;
};
template <>
struct QuadOf<std::uint8_t> {
  using Type = uchar4;
};
template <>
struct QuadOf<std::uint16_t> {
  using Type = ushort4;
};
template <>
struct QuadOf<std::uint32_t> {
  using Type = uint4;
};
template <>
struct QuadOf<std::int8_t> {
  using Type = char4;
};
template <>
struct QuadOf<std::int16_t> {
  using Type = short4;
};
template <>
struct QuadOf<std::int32_t> {
  using Type = int4;
};
template <typename T>
using Quad = typename QuadOf<T>::Type;

constexpr std::uint32_t quads_of(std::uint32_t n) {
  return n / kPerThread + (n % kPerThread != 0 ? 1 : 0);
}

// Reads the values i .. i + 3 of an array that ends at `end`, with zeros beyond. i is a multiple of
// four, below `end`.
template <typename T>
__device__ Quad<T> load_quad(const T* in, std::uint32_t i, std::uint32_t end) {
  if (end - i >= kPerThread) return *reinterpret_cast<const Quad<T>*>(in + i);
  Quad<T> quad = {};
  quad.x = in[i];
  if (end - i > 1) quad.y = in[i + 1];
  if (end - i > 2) quad.z = in[i + 2];
  return quad;
}

template <typename T>
__device__ void store_quad(T* out, std::uint32_t i, std::uint32_t end, Quad<T> quad) {
  if (end - i >= kPerThread) {
    *reinterpret_cast<Quad<T>*>(out + i) = quad;
    return;
  }
  out[i] = quad.x;
  if (end - i > 1) out[i + 1] = quad.y;
  if (end - i > 2) out[i + 2] = quad.z;
}

// Returns the largest value of all threads of a block, to each of them.
inline __device__ std::uint32_t block_max(std::uint32_t value) {
  __shared__ std::uint32_t warps[kWarps];
  value = __reduce_max_sync(kAllLanes, value);
  if (threadIdx.x % kWarpThreads == 0) warps[threadIdx.x / kWarpThreads] = value;
  __syncthreads();
  value = 0;
  for (unsigned warp = 0; warp < kWarps; ++warp) value = max(value, warps[warp]);
  __syncthreads();  // before the next use of `warps`
  return value;
}

// The sum of the values of the threads before this one, and of all threads, modulo 2^32.
struct BlockScan {
  std::uint32_t before;
  std::uint32_t total;
};
inline __device__ BlockScan block_scan(std::uint32_t value) {
  __shared__ std::uint32_t warps[kWarps];
  const unsigned lane = threadIdx.x % kWarpThreads;
  std::uint32_t sum = value;
  for (unsigned lanes = 1; lanes < kWarpThreads; lanes *= 2) {
    const std::uint32_t other = __shfl_up_sync(kAllLanes, sum, lanes);
    if (lane >= lanes) sum += other;
  }
  if (lane == kWarpThreads - 1) warps[threadIdx.x / kWarpThreads] = sum;
  __syncthreads();
  BlockScan scan = {sum - value, 0};
  for (unsigned warp = 0; warp < kWarps; ++warp) {
    if (warp < threadIdx.x / kWarpThreads) scan.before += warps[warp];
    scan.total += warps[warp];
  }
  __syncthreads();  // before the next use of `warps`
  return scan;
}

// The grid for `n` units of which a block takes `each` at a time, in turns if there are many.
inline LaunchShape shape_for(const Queue& queue, const char* kernel, std::uint32_t n,
                             std::uint32_t each) {
  const std::uint32_t blocks = n / each + (n % each != 0 ? 1 : 0);
  return {.kernel = kernel,
          .grid = blocks < queue.grid_blocks() ? blocks : queue.grid_blocks(),
          .threads = kThreads,
          .stream = queue.stream()};
}

}  // namespace tributary::TRIBUTARY_DEVICE
