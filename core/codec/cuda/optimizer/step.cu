#include "core/codec/cuda/optimizer/step.h"

#include "core/codec/cuda/block.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

using optimizer::Factors;
using optimizer::Formula;
using optimizer::OneValue;
using optimizer::uses_first;
using optimizer::uses_second;

template <Formula kFormula>
__device__ void step_one(const Factors& factors, const StepArrays& arrays, std::uint64_t i) {
  OneValue value = {arrays.parameters[i], 0, 0};
  if constexpr (uses_first(kFormula)) value.first = arrays.first[i];
  if constexpr (uses_second(kFormula)) value.second = arrays.second[i];
  value = optimizer::next<kFormula>(factors, arrays.sum[i], value);
  arrays.parameters[i] = value.parameter;
  if constexpr (uses_first(kFormula)) arrays.first[i] = value.first;
  if constexpr (uses_second(kFormula)) arrays.second[i] = value.second;
}

inline __device__ float4* quad_at(float* values, std::uint64_t i) {
  return reinterpret_cast<float4*>(values + i);
}

template <Formula kFormula>
__device__ void step_lane(const Factors& factors, float sum, float& parameter, float& first,
                          float& second) {
  const OneValue value =
      optimizer::next<kFormula>(factors, sum, OneValue{parameter, first, second});
  parameter = value.parameter;
  first = value.first;
  second = value.second;
}

template <Formula kFormula>
__device__ void step_quad(const Factors& factors, const StepArrays& arrays, std::uint64_t i) {
  const float4 sum = *reinterpret_cast<const float4*>(arrays.sum + i);
  float4 parameters = *quad_at(arrays.parameters, i);
  float4 first = {};
  float4 second = {};
  if constexpr (uses_first(kFormula)) first = *quad_at(arrays.first, i);
  if constexpr (uses_second(kFormula)) second = *quad_at(arrays.second, i);
  step_lane<kFormula>(factors, sum.x, parameters.x, first.x, second.x);
  step_lane<kFormula>(factors, sum.y, parameters.y, first.y, second.y);
  step_lane<kFormula>(factors, sum.z, parameters.z, first.z, second.z);
  step_lane<kFormula>(factors, sum.w, parameters.w, first.w, second.w);
  *quad_at(arrays.parameters, i) = parameters;
  if constexpr (uses_first(kFormula)) *quad_at(arrays.first, i) = first;
  if constexpr (uses_second(kFormula)) *quad_at(arrays.second, i) = second;
}

// The values before the first multiple of 16 bytes, `head` of them, and those after the last one
// are single. A model may have more values than 32 bits count.
template <Formula kFormula>
__global__ void make_steps(Factors factors, StepArrays arrays, unsigned head, std::uint64_t n) {
  const std::uint64_t quads = (n - head) / kPerThread;
  for (std::uint64_t quad = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; quad < quads;
       quad += std::uint64_t{gridDim.x} * kThreads) {
    step_quad<kFormula>(factors, arrays, head + quad * kPerThread);
  }
  if (blockIdx.x != 0) return;
  if (threadIdx.x < head) step_one<kFormula>(factors, arrays, threadIdx.x);
  const std::uint64_t tail = head + quads * kPerThread + threadIdx.x;
  if (tail < n) step_one<kFormula>(factors, arrays, tail);
}

template <Formula kFormula>
Status start_steps(const Queue& queue, const Factors& factors, const StepArrays& arrays,
                   std::uint64_t n) {
  const auto beyond =
      static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(arrays.parameters) / sizeof(float)) %
      kPerThread;
  const unsigned before = beyond == 0 ? 0 : kPerThread - beyond;
  const unsigned head = n < before ? static_cast<unsigned>(n) : before;
  const std::uint64_t blocks = n / (kThreads * kPerThread) + 1;
  return launch(
      make_steps<kFormula>,
      {.kernel = "make_steps",
       .grid = blocks < queue.grid_blocks() ? static_cast<unsigned>(blocks) : queue.grid_blocks(),
       .threads = kThreads,
       .stream = queue.stream()},
      factors, arrays, head, n);
}

}  // namespace

Status make_step(const Queue& queue, Formula formula, const Factors& factors,
                 const StepArrays& arrays, std::uint64_t n) {
  if (n == 0) return {};
  switch (formula) {
    case Formula::sgd:
      return start_steps<Formula::sgd>(queue, factors, arrays, n);
    case Formula::momentum:
      return start_steps<Formula::momentum>(queue, factors, arrays, n);
    case Formula::nesterov:
      return start_steps<Formula::nesterov>(queue, factors, arrays, n);
    case Formula::adagrad:
      return start_steps<Formula::adagrad>(queue, factors, arrays, n);
    case Formula::rmsprop:
      return start_steps<Formula::rmsprop>(queue, factors, arrays, n);
    case Formula::rmsprop_momentum:
      return start_steps<Formula::rmsprop_momentum>(queue, factors, arrays, n);
    case Formula::adam:
      return start_steps<Formula::adam>(queue, factors, arrays, n);
    case Formula::yogi:
      return start_steps<Formula::yogi>(queue, factors, arrays, n);
  }
  return {};
}

}  // namespace tributary::TRIBUTARY_DEVICE
