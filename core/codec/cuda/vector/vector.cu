#include "core/codec/cuda/vector/vector.h"

#include <bit>

#include "core/codec/cuda/block.h"
#include "core/codec/cuda/lanes.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

// A model may have more values than 32 bits count. One value for each thread and turn: the loads of
// a warp are whole lines of 128 bytes, and copies between host and device take longer.
template <bool kAdd>
__global__ void add_weighted_values(const float* x, float weight, std::uint64_t n, float* sum) {
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < n;
       i += std::uint64_t{gridDim.x} * kThreads) {
    const float step = weight * x[i];
    if constexpr (kAdd) {
      sum[i] += step;
    } else {
      sum[i] = step;
    }
  }
}

__global__ void subtract_decoded_values(const float* x, std::uint64_t n, float* decoded) {
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < n;
       i += std::uint64_t{gridDim.x} * kThreads) {
    const float sent = x[i];
    const float got = decoded[i];
    const bool whole = std::bit_cast<std::uint32_t>(sent) == std::bit_cast<std::uint32_t>(got);
    decoded[i] = whole ? 0.0f : sent - got;
  }
}

__global__ void sum_squares_of_blocks(const float* x, std::uint64_t n, double* sums) {
  constexpr unsigned kGroups = kThreads / kSumLanes;
  __shared__ double groups[kGroups];
  double sum = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < n;
       i += std::uint64_t{gridDim.x} * kThreads) {
    const double value = x[i];
    sum += value * value;
  }
  sum = add_lanes(sum);
  if (threadIdx.x % kSumLanes == 0) groups[threadIdx.x / kSumLanes] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  double all = 0;
  for (unsigned group = 0; group < kGroups; ++group) all += groups[group];
  sums[blockIdx.x] = all;
}

LaunchShape shape_of(const Queue& queue, const char* kernel, std::uint64_t n) {
  const std::uint64_t blocks = n / kThreads + (n % kThreads != 0 ? 1 : 0);
  return {
      .kernel = kernel,
      .grid = blocks < queue.grid_blocks() ? static_cast<unsigned>(blocks) : queue.grid_blocks(),
      .threads = kThreads,
      .stream = queue.stream()};
}

}  // namespace

Status add_weighted(const Queue& queue, const float* x, float weight, std::uint64_t n, bool add,
                    float* sum) {
  if (n == 0) return {};
  const LaunchShape shape = shape_of(queue, "add_weighted_values", n);
  return add ? launch(add_weighted_values<true>, shape, x, weight, n, sum)
             : launch(add_weighted_values<false>, shape, x, weight, n, sum);
}

Status subtract_decoded(const Queue& queue, const float* x, std::uint64_t n, float* decoded) {
  if (n == 0) return {};
  return launch(subtract_decoded_values, shape_of(queue, "subtract_decoded_values", n), x, n,
                decoded);
}

Status sum_squares(const Queue& queue, const float* x, std::uint64_t n, double* sums) {
  if (n == 0) return {};
  return launch(sum_squares_of_blocks, shape_of(queue, "sum_squares_of_blocks", n), x, n, sums);
}

}  // namespace tributary::TRIBUTARY_DEVICE
