#include "core/codec/cuda/quantize/qsgd.h"

#include "core/codec/cuda/block.h"
#include "core/codec/cuda/lanes.h"
#include "core/codec/quantize/elements.h"
#include "core/codec/quantize/packed_levels.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

using quantize::level_max;
using quantize::norm_scale;

constexpr unsigned kGroup = 8;  // levels, which fill whole bytes

// Sixteen threads take one block of values at a time; each adds in one lane of the specification.
// All threads of a CUDA block take the same number of turns.
template <bool kEuclidean>
__global__ void __launch_bounds__(kThreads)
    norms_of_blocks(const float* x, std::uint32_t n, std::uint32_t block_size, float* norms,
                    std::uint32_t* largest) {
  constexpr unsigned kGroups = kThreads / kSumLanes;
  constexpr unsigned kSteps = 16;  // loads in flight
  const unsigned lane = threadIdx.x % kSumLanes;
  const std::uint32_t blocks = n / block_size + (n % block_size != 0 ? 1 : 0);
  std::uint32_t seen = 0;
  for (std::uint32_t first = blockIdx.x * kGroups; first < blocks; first += gridDim.x * kGroups) {
    const std::uint32_t block = first + threadIdx.x / kSumLanes;
    const bool exists = block < blocks;
    const std::uint32_t begin = exists ? block * block_size : n;
    const std::uint32_t end = begin + min(block_size, n - begin);
    std::uint32_t magnitude = 0;
    double sum = 0;
    for (std::uint32_t at = begin + lane; at < end; at += kSteps * kSumLanes) {
      float v[kSteps];
      for (unsigned k = 0; k < kSteps; ++k) {
        v[k] = at + k * kSumLanes < end ? x[at + k * kSumLanes] : 0.0f;
      }
      for (unsigned k = 0; k < kSteps; ++k) {
        magnitude = max(magnitude, magnitude_bits(v[k]));
        // Adding 0 changes nothing, because no sum is -0.
        if constexpr (kEuclidean) sum += static_cast<double>(v[k]) * static_cast<double>(v[k]);
      }
    }
    for (unsigned lanes = kSumLanes / 2; lanes > 0; lanes /= 2) {
      magnitude = max(magnitude, __shfl_xor_sync(kAllLanes, magnitude, lanes));
    }
    if constexpr (kEuclidean) sum = add_lanes(sum);
    seen = max(seen, magnitude);
    if (exists && lane == 0) {
      norms[block] = kEuclidean ? quantize::euclidean_norm(sum) : quantize::largest_norm(magnitude);
    }
  }
  seen = block_max(seen);
  if (threadIdx.x == 0) atomicMax(largest, seen);
}

// The code of a level: the sign above the magnitude.
__device__ std::uint64_t code_of(float x, float levels_per_unit, const PackedFormat& format,
                                 std::uint32_t element) {
  const int level = quantize::clamp_to(
      quantize::random_level(x, levels_per_unit, random_bits(format.key, element)),
      level_max(format.bits));
  return static_cast<std::uint64_t>(level < 0 ? -level | 1 << (format.bits - 1) : level);
}

__device__ std::uint64_t codes_of(float4 v, float levels_per_unit, const PackedFormat& format,
                                  std::uint32_t i) {
  const unsigned bits = static_cast<unsigned>(format.bits);
  return code_of(v.x, levels_per_unit, format, i) |
         code_of(v.y, levels_per_unit, format, i + 1) << bits |
         code_of(v.z, levels_per_unit, format, i + 2) << (2 * bits) |
         code_of(v.w, levels_per_unit, format, i + 3) << (3 * bits);
}

__device__ float4 quad_or_zeros(const float* x, std::uint32_t i, std::uint32_t n) {
  return i < n ? load_quad(x, i, n) : float4{};
}

// A thread makes the bytes of eight levels, and a block writes them together as words.
__global__ void __launch_bounds__(kThreads)
    pack_groups(const float* x, std::uint32_t n, PackedFormat format, unsigned block_shift,
                const float* norms, std::uint32_t* words) {
  __shared__ std::uint32_t staged[kThreads * kGroup / 4];
  auto* const bytes = reinterpret_cast<std::uint8_t*>(staged);
  const unsigned bits = static_cast<unsigned>(format.bits);
  const std::uint32_t groups = n / kGroup + (n % kGroup != 0 ? 1 : 0);
  for (std::uint32_t first = blockIdx.x * kThreads; first < groups; first += gridDim.x * kThreads) {
    const std::uint32_t group = first + threadIdx.x;
    if (group < groups) {
      const std::uint32_t i = group * kGroup;
      const float per_unit =
          norm_scale(norms[i >> block_shift], level_max(format.bits)).levels_per_unit;
      const float4 low = load_quad(x, i, n);
      const float4 high = quad_or_zeros(x, i + kPerThread, n);
      const std::uint64_t codes =
          codes_of(low, per_unit, format, i) | codes_of(high, per_unit, format, i + kPerThread)
                                                   << (kPerThread * bits);
      for (unsigned k = 0; k < bits; ++k) {
        bytes[threadIdx.x * bits + k] = static_cast<std::uint8_t>(codes >> (8 * k));
      }
    }
    __syncthreads();
    const std::uint32_t count = (min(kThreads, groups - first) * bits + 3) / 4;
    for (std::uint32_t k = threadIdx.x; k < count; k += kThreads) {
      words[first * bits / 4 + k] = staged[k];
    }
    __syncthreads();  // before the next use of `staged`
  }
}

__device__ float4 values_of(std::uint64_t codes, const PackedFormat& format, float step) {
  const unsigned bits = static_cast<unsigned>(format.bits);
  const auto value = [&](unsigned k) {
    const auto code = static_cast<std::uint32_t>(codes >> (k * bits));
    const int magnitude = static_cast<int>(code) & level_max(format.bits);
    return static_cast<float>((code >> (bits - 1) & 1) != 0 ? -magnitude : magnitude) * step;
  };
  return make_float4(value(0), value(1), value(2), value(3));
}

// The inverse of pack_groups(). `packed` has `size` bytes.
__global__ void __launch_bounds__(kThreads)
    unpack_groups(const std::uint8_t* packed, std::uint32_t size, std::uint32_t n,
                  PackedFormat format, unsigned block_shift, const float* norms, float* x) {
  __shared__ std::uint32_t staged[kThreads * kGroup / 4];
  auto* const bytes = reinterpret_cast<std::uint8_t*>(staged);
  const unsigned bits = static_cast<unsigned>(format.bits);
  const std::uint32_t groups = n / kGroup + (n % kGroup != 0 ? 1 : 0);
  for (std::uint32_t first = blockIdx.x * kThreads; first < groups; first += gridDim.x * kThreads) {
    const std::uint32_t begin = first * bits;
    const std::uint32_t count = min(kThreads * bits, size - begin);
    for (std::uint32_t k = threadIdx.x; k < count / 4; k += kThreads) {
      staged[k] = reinterpret_cast<const std::uint32_t*>(packed + begin)[k];
    }
    const std::uint32_t rest = count / 4 * 4 + threadIdx.x;
    if (rest < count) bytes[rest] = packed[begin + rest];
    __syncthreads();
    const std::uint32_t group = first + threadIdx.x;
    if (group < groups) {
      const std::uint32_t i = group * kGroup;
      const float step = norm_scale(norms[i >> block_shift], level_max(format.bits)).step;
      std::uint64_t codes = 0;
      for (unsigned k = 0; k < bits; ++k) {
        const std::uint32_t at = threadIdx.x * bits + k;
        if (at < count) codes |= std::uint64_t{bytes[at]} << (8 * k);
      }
      store_quad(x, i, n, values_of(codes, format, step));
      if (i + kPerThread < n) {
        store_quad(x, i + kPerThread, n, values_of(codes >> (kPerThread * bits), format, step));
      }
    }
    __syncthreads();  // before the next use of `staged`
  }
}

unsigned shift_of(const PackedFormat& format) {
  return static_cast<unsigned>(std::countr_zero(format.block));
}

}  // namespace

Status find_norms(const Queue& queue, const float* x, std::uint32_t n, const PackedFormat& format,
                  float* norms, std::uint32_t* largest) {
  if (n == 0) return {};
  return launch(format.euclidean ? norms_of_blocks<true> : norms_of_blocks<false>,
                shape_for(queue, "norms_of_blocks", n, format.block * (kThreads / kSumLanes)), x, n,
                format.block, norms, largest);
}

Status to_packed_levels(const Queue& queue, const float* x, std::uint32_t n,
                        const PackedFormat& format, const float* norms, std::uint8_t* packed) {
  if (n == 0) return {};
  return launch(pack_groups, shape_for(queue, "pack_groups", n, kThreads * kGroup), x, n, format,
                shift_of(format), norms, reinterpret_cast<std::uint32_t*>(packed));
}

Status from_packed_levels(const Queue& queue, const std::uint8_t* packed, std::uint32_t n,
                          const PackedFormat& format, const float* norms, float* x) {
  if (n == 0) return {};
  const auto size = static_cast<std::uint32_t>(quantize::packed_bytes(n, format.bits));
  return launch(unpack_groups, shape_for(queue, "unpack_groups", n, kThreads * kGroup), packed,
                size, n, format, shift_of(format), norms, x);
}

}  // namespace tributary::TRIBUTARY_DEVICE
