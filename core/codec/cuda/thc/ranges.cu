// Stage 0 of THC: the numbers of every block. A warp takes a block. Its lanes are the parallel sums
// of the specification, so a lane reads every 32nd value; the lanes together read whole lines.
#include <bit>

#include "core/codec/cuda/thc/rotation.h"
#include "core/codec/cuda/thc/spread.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

static_assert(thc::kSquareLanes == kWarpThreads);

struct BlockSpan {
  std::uint32_t begin;
  std::uint32_t size;
};

__device__ BlockSpan span_of(const ThcBlocks& blocks, std::uint32_t index) {
  const std::uint32_t full = blocks.units >> blocks.shift;
  if (index < full) {
    return {(index << blocks.shift) * thc::kBlockMin, thc::kBlockMin << blocks.shift};
  }
  // Skips the bits of the tail's blocks before this one.
  std::uint32_t rest = blocks.units & ((1u << blocks.shift) - 1);
  std::uint32_t unit = full << blocks.shift;
  for (std::uint32_t i = full;; ++i) {
    const std::uint32_t bit = 1u << (31u - static_cast<unsigned>(__clz(rest)));
    if (i == index) return {unit * thc::kBlockMin, bit * thc::kBlockMin};
    unit += bit;
    rest ^= bit;
  }
}

// Calls visit(value) for every 32nd value of `n`, with kAtOnce loads in flight.
template <unsigned kAtOnce, typename Visit>
__device__ void visit_at_once(const float* from, std::uint32_t n, const Visit& visit) {
  for (std::uint32_t i = 0; i < n; i += kAtOnce * kWarpThreads) {
    float v[kAtOnce];
    for (unsigned k = 0; k < kAtOnce; ++k) v[k] = from[i + k * kWarpThreads];
    for (unsigned k = 0; k < kAtOnce; ++k) visit(v[k]);
  }
}

// The same for the values of a block from `lane` on, with zeros behind the bucket.
template <typename Visit>
__device__ void visit_lane(const float* x, std::uint32_t n, BlockSpan block, unsigned lane,
                           const Visit& visit) {
  const float* const from = x + block.begin + lane;
  if (n - block.begin < block.size) {
    for (std::uint32_t i = lane; i < block.size; i += kWarpThreads) {
      visit(i < n - block.begin ? from[i - lane] : 0.0f);
    }
  } else if (block.size >= 512) {
    visit_at_once<16>(from, block.size, visit);
  } else if (block.size == 256) {
    visit_at_once<8>(from, block.size, visit);
  } else {
    visit_at_once<2>(from, block.size, visit);
  }
}

// Calls work(index, span) for every block, with all lanes of a warp.
template <typename Work>
__device__ void for_each_block(const ThcBlocks& blocks, const Work& work) {
  const std::uint32_t count = blocks.blocks();
  for (std::uint32_t index = (blockIdx.x * kThreads + threadIdx.x) / kWarpThreads; index < count;
       index += gridDim.x * kWarps) {
    work(index, span_of(blocks, index));
  }
}

struct Squares {
  float sum;
  std::uint32_t largest;
};

__device__ Squares squares_of(const float* x, std::uint32_t n, BlockSpan block, float scale) {
  const unsigned lane = threadIdx.x % kWarpThreads;
  Squares squares = {0.0f, 0};
  visit_lane(x, n, block, lane, [&](float value) {
    const float scaled = value * scale;
    squares.sum += scaled * scaled;
    squares.largest = max(squares.largest, magnitude_bits(value));
  });
  for (unsigned half = kWarpThreads / 2; half > 0; half /= 2) {
    squares.sum += __shfl_down_sync(kAllLanes, squares.sum, half);
  }
  squares.largest = __reduce_max_sync(kAllLanes, squares.largest);
  return squares;
}

__global__ void __launch_bounds__(kThreads)
    norms_of_blocks(const float* x, ThcBlocks blocks, float* norms, std::uint32_t* not_finite) {
  const unsigned lane = threadIdx.x % kWarpThreads;
  bool bad = false;
  for_each_block(blocks, [&](std::uint32_t index, BlockSpan block) {
    Squares squares = squares_of(x, blocks.values, block, 1.0f);
    bad |= squares.largest >= kInfinityBits;
    float rms = 0.0f;
    if (squares.largest >= std::bit_cast<std::uint32_t>(thc::kRmsMin)) {
      const float scale = thc::norm_scale(squares.largest);
      if (scale != 1.0f) squares = squares_of(x, blocks.values, block, scale);
      rms = thc::rms_of(squares.sum, block.size, scale);
    }
    if (lane == 0) norms[index] = rms;
  });
  if (bad && lane == 0) atomicMax(not_finite, 1);
}

// The input is the values of a bucket, or their rotated coordinates (kRotated). These may exceed
// the range of float32: their extent is then limited to it.
template <bool kRotated>
__global__ void __launch_bounds__(kThreads)
    extents_of_blocks(const float* x, std::uint32_t n, ThcBlocks blocks, float* extents,
                      std::uint32_t* not_finite) {
  const unsigned lane = threadIdx.x % kWarpThreads;
  bool bad = false;
  for_each_block(blocks, [&](std::uint32_t index, BlockSpan block) {
    float low = 0.0f;
    float high = 0.0f;
    std::uint32_t largest = 0;
    visit_lane(x, n, block, lane, [&](float value) {
      if (-value > low) low = -value;
      if (value > high) high = value;
      largest = max(largest, magnitude_bits(value));
    });
    // Floats that are not below 0 have the order of their bits.
    low = std::bit_cast<float>(__reduce_max_sync(kAllLanes, std::bit_cast<std::uint32_t>(low)));
    high = std::bit_cast<float>(__reduce_max_sync(kAllLanes, std::bit_cast<std::uint32_t>(high)));
    largest = __reduce_max_sync(kAllLanes, largest);
    if (largest >= kInfinityBits) {
      bad = true;
      low = high = 0x1.fffffep127f;
    }
    if (lane == 0) {
      extents[2 * std::size_t{index}] = low;
      extents[2 * std::size_t{index} + 1] = high;
    }
  });
  if (!kRotated && bad && lane == 0) atomicMax(not_finite, 1);
}

}  // namespace

Status find_norms(const Queue& queue, const float* x, const ThcBlocks& blocks, float* norms,
                  std::uint32_t* not_finite) {
  if (blocks.values == 0) return {};
  return launch(norms_of_blocks, shape_for(queue, "norms_of_blocks", blocks.blocks(), kWarps), x,
                blocks, norms, not_finite);
}

Status find_extents(const Queue& queue, const float* x, const ThcBlocks& blocks, float* scratch,
                    float* extents, std::uint32_t* not_finite) {
  if (blocks.values == 0) return {};
  const LaunchShape shape = shape_for(queue, "extents_of_blocks", blocks.blocks(), kWarps);
  TRIBUTARY_TRY(
      launch(extents_of_blocks<false>, shape, x, blocks.values, blocks, extents, not_finite));
  if (!blocks.rotated) return {};
  TRIBUTARY_TRY(spread_values(queue, x, blocks, scratch));
  return launch(extents_of_blocks<true>, shape, scratch,
                static_cast<std::uint32_t>(blocks.coordinates()), blocks, extents, not_finite);
}

}  // namespace tributary::TRIBUTARY_DEVICE
