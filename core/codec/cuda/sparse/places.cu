#include "core/codec/cuda/sparse/places.h"

#include "core/codec/cuda/block.h"
#include "core/codec/sparse/elements.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

__global__ void largest_of(const float* x, std::uint32_t n, std::uint32_t* largest) {
  std::uint32_t seen = 0;
  const std::uint32_t quads = quads_of(n);
  for (std::uint32_t quad = blockIdx.x * kThreads + threadIdx.x; quad < quads;
       quad += gridDim.x * kThreads) {
    const float4 v = load_quad(x, quad * kPerThread, n);
    seen = max(max(max(seen, magnitude_bits(v.x)), magnitude_bits(v.y)),
               max(magnitude_bits(v.z), magnitude_bits(v.w)));
  }
  seen = block_max(seen);
  if (threadIdx.x == 0) atomicMax(largest, seen);
}

__global__ void pick(const float* x, Places places, float* picked) {
  for (std::uint32_t i = blockIdx.x * kThreads + threadIdx.x; i < places.count;
       i += gridDim.x * kThreads) {
    picked[i] = x[places.indices[i]];
  }
}

__global__ void clear_values(std::uint32_t n, float* x) {
  const std::uint32_t quads = quads_of(n);
  for (std::uint32_t quad = blockIdx.x * kThreads + threadIdx.x; quad < quads;
       quad += gridDim.x * kThreads) {
    store_quad(x, quad * kPerThread, n, make_float4(0, 0, 0, 0));
  }
}

template <bool kAdd>
__global__ void put(Places places, const float* values, float* x) {
  for (std::uint32_t i = blockIdx.x * kThreads + threadIdx.x; i < places.count;
       i += gridDim.x * kThreads) {
    float* const at = x + places.indices[i];
    *at = kAdd ? *at + values[i] : values[i];
  }
}

}  // namespace

Status find_largest(const Queue& queue, const float* x, std::uint32_t n, std::uint32_t* largest) {
  if (n == 0) return {};
  return launch(largest_of, shape_for(queue, "largest_of", n, kThreads * kPerThread), x, n,
                largest);
}

Status pick_values(const Queue& queue, const float* x, const Places& places, float* picked) {
  if (places.count == 0) return {};
  return launch(pick, shape_for(queue, "pick", places.count, kThreads), x, places, picked);
}

Status scatter_values(const Queue& queue, const Places& places, const float* values,
                      std::uint32_t n, float* x) {
  if (n == 0) return {};
  TRIBUTARY_TRY(
      launch(clear_values, shape_for(queue, "clear_values", n, kThreads * kPerThread), n, x));
  if (places.count == 0) return {};
  return launch(put<false>, shape_for(queue, "put", places.count, kThreads), places, values, x);
}

Status add_values(const Queue& queue, const Places& places, const float* values, float* x) {
  if (places.count == 0) return {};
  return launch(put<true>, shape_for(queue, "put", places.count, kThreads), places, values, x);
}

}  // namespace tributary::TRIBUTARY_DEVICE
