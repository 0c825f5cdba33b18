#include "core/codec/cuda/signs/signs.h"

#include "core/codec/cuda/block.h"
#include "core/codec/cuda/lanes.h"
#include "core/codec/signs/elements.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

using signs::sign_of;

__device__ std::uint32_t signs_in(float4 v) {
  return sign_of(v.x) | sign_of(v.y) << 1 | sign_of(v.z) << 2 | sign_of(v.w) << 3;
}

// Eight threads make a word of 32 sign bits. All threads of a block take the same number of turns.
__global__ void __launch_bounds__(kThreads)
    pack_sign_words(const float* x, std::uint32_t n, std::uint32_t* words, std::uint32_t* largest) {
  constexpr unsigned kGroup = 32 / kPerThread;
  constexpr unsigned kBatch = 4;  // loads in flight
  std::uint32_t seen = 0;
  const std::uint32_t quads = quads_of(n);
  for (std::uint32_t first = blockIdx.x * kThreads * kBatch; first < quads;
       first += gridDim.x * kThreads * kBatch) {
    float4 v[kBatch] = {};
    for (unsigned k = 0; k < kBatch; ++k) {
      const std::uint32_t quad = first + k * kThreads + threadIdx.x;
      if (quad < quads) v[k] = load_quad(x, quad * kPerThread, n);
    }
    for (unsigned k = 0; k < kBatch; ++k) {
      const std::uint32_t quad = first + k * kThreads + threadIdx.x;
      seen = max(max(seen, max(magnitude_bits(v[k].x), magnitude_bits(v[k].y))),
                 max(magnitude_bits(v[k].z), magnitude_bits(v[k].w)));
      std::uint32_t word = signs_in(v[k]) << (quad % kGroup * kPerThread);
      for (unsigned lanes = kGroup / 2; lanes > 0; lanes /= 2) {
        word |= __shfl_xor_sync(kAllLanes, word, lanes);
      }
      if (quad < quads && quad % kGroup == 0) words[quad / kGroup] = word;
    }
  }
  seen = block_max(seen);
  if (threadIdx.x == 0) atomicMax(largest, seen);
}

// Sixteen threads take one block of values at a time; each adds in one lane of the specification.
// They keep the sign bits of 256 values until they write them together. All threads of a CUDA block
// take the same number of turns.
template <WorthRule kRule>
__global__ void __launch_bounds__(kThreads)
    pack_scaled(const float* x, std::uint32_t n, std::uint32_t block_size, Worth* worths,
                std::uint16_t* bits, std::uint32_t* largest) {
  constexpr unsigned kGroups = kThreads / kSumLanes;
  constexpr unsigned kSteps = 16;
  const unsigned lane = threadIdx.x % kSumLanes;
  const unsigned shift = threadIdx.x % kWarpThreads - lane;  // of the group's bits in a ballot
  const std::uint32_t blocks = n / block_size + (n % block_size != 0 ? 1 : 0);
  std::uint32_t seen = 0;
  for (std::uint32_t first = blockIdx.x * kGroups; first < blocks; first += gridDim.x * kGroups) {
    const std::uint32_t block = first + threadIdx.x / kSumLanes;
    const bool exists = block < blocks;
    const std::uint32_t begin = exists ? block * block_size : n;
    const std::uint32_t end = begin + min(block_size, n - begin);
    double positive = 0;
    double negative = 0;
    std::uint32_t negatives = 0;
    for (std::uint32_t offset = 0; offset < block_size; offset += kSteps * kSumLanes) {
      const std::uint32_t at = begin + offset + lane;
      float v[kSteps];
      for (unsigned k = 0; k < kSteps; ++k) {
        v[k] = at + k * kSumLanes < end ? x[at + k * kSumLanes] : 0.0f;
      }
      std::uint32_t own = 0;
      for (unsigned k = 0; k < kSteps; ++k) {
        const bool minus = sign_of(v[k]) != 0;
        const std::uint32_t magnitude = magnitude_bits(v[k]);
        const auto addend = static_cast<double>(std::bit_cast<float>(magnitude));
        seen = max(seen, magnitude);
        // Adding 0 changes nothing, because no sum is -0.
        positive += minus ? 0.0 : addend;
        negative += minus ? addend : 0.0;
        const std::uint32_t group = __ballot_sync(kAllLanes, minus) >> shift & 0xffffu;
        if (lane == k) own = group;
        negatives += static_cast<std::uint32_t>(__popc(group));
      }
      const std::uint32_t from = begin + offset + lane * kSumLanes;
      if (offset + lane * kSumLanes < block_size && from < end) {
        bits[from / kSumLanes] = static_cast<std::uint16_t>(own);
      }
    }
    positive = add_lanes(positive);
    negative = add_lanes(negative);
    if (exists && lane == 0) {
      worths[block] = kRule == WorthRule::mean_magnitude
                          ? signs::mean_magnitude(positive, negative, end - begin)
                          : signs::means_by_sign(positive, negative, negatives, end - begin);
    }
  }
  seen = block_max(seen);
  if (threadIdx.x == 0) atomicMax(largest, seen);
}

// The same value for all blocks.
struct EqualWorth {
  Worth worth;
  __device__ Worth of(std::uint32_t) const { return worth; }
};
struct BlockWorth {
  const Worth* worths;
  unsigned block_shift;
  __device__ Worth of(std::uint32_t i) const { return worths[i >> block_shift]; }
};

// The float whose bits are `base`, or `base` ^ `change` if the sign bit is set.
__device__ float choose(std::uint32_t base, std::uint32_t change, std::uint32_t sign) {
  return std::bit_cast<float>(base ^ (change & (0u - (sign & 1u))));
}

template <typename Worths>
__global__ void __launch_bounds__(kThreads)
    unpack_sign_bits(const std::uint8_t* bits, Worths worths, std::uint32_t n, float* x) {
  const std::uint32_t quads = quads_of(n);
  for (std::uint32_t quad = blockIdx.x * kThreads + threadIdx.x; quad < quads;
       quad += gridDim.x * kThreads) {
    const std::uint32_t i = quad * kPerThread;
    const Worth worth = worths.of(i);
    const auto base = std::bit_cast<std::uint32_t>(worth.positive);
    const std::uint32_t change = base ^ std::bit_cast<std::uint32_t>(-worth.negative);
    const std::uint32_t four = std::uint32_t{bits[i / 8]} >> (i % 8);
    store_quad(x, i, n,
               make_float4(choose(base, change, four), choose(base, change, four >> 1),
                           choose(base, change, four >> 2), choose(base, change, four >> 3)));
  }
}

template <typename Count>
__global__ void __launch_bounds__(kThreads)
    steps_of_votes(const Count* counts, std::uint32_t n, std::uint32_t voters, float step,
                   float* x) {
  const std::uint32_t quads = quads_of(n);
  for (std::uint32_t quad = blockIdx.x * kThreads + threadIdx.x; quad < quads;
       quad += gridDim.x * kThreads) {
    const std::uint32_t i = quad * kPerThread;
    const Quad<Count> minus = load_quad(counts, i, n);
    store_quad(x, i, n,
               make_float4(signs::step_of_vote(minus.x, voters, step),
                           signs::step_of_vote(minus.y, voters, step),
                           signs::step_of_vote(minus.z, voters, step),
                           signs::step_of_vote(minus.w, voters, step)));
  }
}

template <WorthRule kRule>
Status launch_scaled(const Queue& queue, std::uint32_t block, const float* x, std::uint32_t n,
                     Worth* worths, std::uint8_t* bits, std::uint32_t* largest) {
  if (n == 0) return {};
  return launch(pack_scaled<kRule>,
                shape_for(queue, "pack_scaled", n, block * (kThreads / kSumLanes)), x, n, block,
                worths, reinterpret_cast<std::uint16_t*>(bits), largest);
}

template <typename Worths>
Status launch_unpack(const Queue& queue, const std::uint8_t* bits, Worths worths, std::uint32_t n,
                     float* x) {
  if (n == 0) return {};
  return launch(unpack_sign_bits<Worths>,
                shape_for(queue, "unpack_sign_bits", n, kThreads * kPerThread), bits, worths, n, x);
}

template <typename Count>
Status launch_votes(const Queue& queue, const Count* counts, std::uint32_t n, std::uint32_t voters,
                    float step, float* x) {
  if (n == 0) return {};
  return launch(steps_of_votes<Count>, shape_for(queue, "steps_of_votes", n, kThreads * kPerThread),
                counts, n, voters, step, x);
}

}  // namespace

Status pack_signs(const Queue& queue, const float* x, std::uint32_t n, std::uint8_t* bits,
                  std::uint32_t* largest) {
  if (n == 0) return {};
  return launch(pack_sign_words, shape_for(queue, "pack_sign_words", n, kThreads * kPerThread), x,
                n, reinterpret_cast<std::uint32_t*>(bits), largest);
}

Status pack_scaled_signs(const Queue& queue, WorthRule rule, std::uint32_t block, const float* x,
                         std::uint32_t n, Worth* worths, std::uint8_t* bits,
                         std::uint32_t* largest) {
  const auto start = rule == WorthRule::mean_magnitude ? launch_scaled<WorthRule::mean_magnitude>
                                                       : launch_scaled<WorthRule::means_by_sign>;
  return start(queue, block, x, n, worths, bits, largest);
}

Status unpack_signs(const Queue& queue, const std::uint8_t* bits, float step, std::uint32_t n,
                    float* x) {
  return launch_unpack(queue, bits, EqualWorth{{step, step}}, n, x);
}
Status unpack_scaled_signs(const Queue& queue, std::uint32_t block, const Worth* worths,
                           const std::uint8_t* bits, std::uint32_t n, float* x) {
  return launch_unpack(queue, bits,
                       BlockWorth{worths, static_cast<unsigned>(std::countr_zero(block))}, n, x);
}

Status count_votes8(const Queue& queue, const std::uint8_t* counts, std::uint32_t n,
                    std::uint32_t voters, float step, float* x) {
  return launch_votes(queue, counts, n, voters, step, x);
}
Status count_votes16(const Queue& queue, const std::uint16_t* counts, std::uint32_t n,
                     std::uint32_t voters, float step, float* x) {
  return launch_votes(queue, counts, n, voters, step, x);
}
Status count_votes32(const Queue& queue, const std::uint32_t* counts, std::uint32_t n,
                     std::uint32_t voters, float step, float* x) {
  return launch_votes(queue, counts, n, voters, step, x);
}

}  // namespace tributary::TRIBUTARY_DEVICE
