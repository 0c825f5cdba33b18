#include "core/codec/cuda/vector/vector.h"

#include <bit>

#include "core/codec/cuda/block.h"
#include "core/codec/cuda/lanes.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

// The values of two arrays that are loaded and stored four at a time: `quads` times four from
// `head` on. All others are single. Without any quad the arrays lie at different distances from a
// multiple of 16 bytes. A model may have more values than 32 bits count.
struct QuadRun {
  std::uint64_t n;
  std::uint64_t head;
  std::uint64_t quads;
};

// Calls quad(i) and single(i) for the positions of a run that are this thread's.
template <typename OnQuad, typename OnSingle>
__device__ void visit(const QuadRun& run, const OnQuad& quad, const OnSingle& single) {
  const std::uint64_t first = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  const std::uint64_t step = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t i = first; i < run.quads; i += step) quad(run.head + i * kPerThread);
  const std::uint64_t in_quads = run.quads * kPerThread;
  for (std::uint64_t i = first; i < run.n - in_quads; i += step) {
    single(i < run.head ? i : i + in_quads);
  }
}

template <bool kAdd>
__device__ float add_one(float x, float weight, float sum) {
  const float step = weight * x;
  return kAdd ? sum + step : step;
}

template <bool kAdd>
__global__ void add_weighted_values(const float* x, float weight, QuadRun run, float* sum) {
  visit(
      run,
      [=](std::uint64_t i) {
        const float4 from = *reinterpret_cast<const float4*>(x + i);
        auto* const to = reinterpret_cast<float4*>(sum + i);
        float4 old = {};
        if constexpr (kAdd) old = *to;
        *to =
            make_float4(add_one<kAdd>(from.x, weight, old.x), add_one<kAdd>(from.y, weight, old.y),
                        add_one<kAdd>(from.z, weight, old.z), add_one<kAdd>(from.w, weight, old.w));
      },
      [=](std::uint64_t i) {
        float old = 0;
        if constexpr (kAdd) old = sum[i];
        sum[i] = add_one<kAdd>(x[i], weight, old);
      });
}

__device__ float subtract_one(float sent, float got) {
  const bool whole = std::bit_cast<std::uint32_t>(sent) == std::bit_cast<std::uint32_t>(got);
  return whole ? 0.0f : sent - got;
}

__global__ void subtract_decoded_values(const float* x, QuadRun run, float* decoded) {
  visit(
      run,
      [=](std::uint64_t i) {
        const float4 sent = *reinterpret_cast<const float4*>(x + i);
        auto* const left = reinterpret_cast<float4*>(decoded + i);
        const float4 got = *left;
        *left = make_float4(subtract_one(sent.x, got.x), subtract_one(sent.y, got.y),
                            subtract_one(sent.z, got.z), subtract_one(sent.w, got.w));
      },
      [=](std::uint64_t i) { decoded[i] = subtract_one(x[i], decoded[i]); });
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

// Values by which an address is beyond a multiple of 16 bytes.
std::uint64_t beyond_alignment(const float* values) {
  return reinterpret_cast<std::uintptr_t>(values) / sizeof(float) % kPerThread;
}

QuadRun quad_run(const float* a, const float* b, std::uint64_t n) {
  const std::uint64_t beyond = beyond_alignment(a);
  const std::uint64_t before = beyond == 0 ? 0 : kPerThread - beyond;
  if (beyond != beyond_alignment(b) || n <= before) return {n, 0, 0};
  return {n, before, (n - before) / kPerThread};
}

// A thread has a quad, or a single value.
LaunchShape shape_for_run(const Queue& queue, const char* kernel, const QuadRun& run) {
  const std::uint64_t singles = run.n - run.quads * kPerThread;
  return shape_of(queue, kernel, run.quads > singles ? run.quads : singles);
}

}  // namespace

Status add_weighted(const Queue& queue, const float* x, float weight, std::uint64_t n, bool add,
                    float* sum) {
  if (n == 0) return {};
  const QuadRun run = quad_run(x, sum, n);
  const LaunchShape shape = shape_for_run(queue, "add_weighted_values", run);
  return add ? launch(add_weighted_values<true>, shape, x, weight, run, sum)
             : launch(add_weighted_values<false>, shape, x, weight, run, sum);
}

Status subtract_decoded(const Queue& queue, const float* x, std::uint64_t n, float* decoded) {
  if (n == 0) return {};
  const QuadRun run = quad_run(x, decoded, n);
  return launch(subtract_decoded_values, shape_for_run(queue, "subtract_decoded_values", run), x,
                run, decoded);
}

Status sum_squares(const Queue& queue, const float* x, std::uint64_t n, double* sums) {
  if (n == 0) return {};
  return launch(sum_squares_of_blocks, shape_of(queue, "sum_squares_of_blocks", n), x, n, sums);
}

}  // namespace tributary::TRIBUTARY_DEVICE
