#include <cuda_runtime.h>

#include "core/codec/cuda/device_quantize.h"
#include "core/codec/quantize/elements.h"

namespace tributary::cuda {
namespace {

using quantize::block_scale;
using quantize::BlockScale;
using quantize::magnitude_bits;

// One thread handles several groups if the grid is at its limit.
constexpr unsigned kThreads = 256;
constexpr unsigned kPerThread = 4;  // one 16-byte load
constexpr unsigned kBlocksMax = 8192;

Status launched(const char* what) {
  const cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) return {};
  return Status(StatusCode::io_error, {.what = what,
                                       .expected = "a kernel that starts",
                                       .got = cudaGetErrorString(error),
                                       .remedy = "encode on the CPU; the bytes are the same"});
}

unsigned grid_for(std::uint32_t n) {
  const std::uint64_t blocks =
      (std::uint64_t{n} + kThreads * kPerThread - 1) / (std::uint64_t{kThreads} * kPerThread);
  return static_cast<unsigned>(blocks < kBlocksMax ? blocks : kBlocksMax);
}

// Returns the largest value of all threads of a block, to each of them.
__device__ std::uint32_t block_max(std::uint32_t value) {
  __shared__ std::uint32_t warps[kThreads / 32];
  value = __reduce_max_sync(0xffffffffu, value);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  value = 0;
  for (unsigned warp = 0; warp < kThreads / 32; ++warp) value = max(value, warps[warp]);
  __syncthreads();  // before the next use of `warps`
  return value;
}

// Visits groups of four neighbours, then the rest one by one: visit4(index) and visit1(index).
template <typename Visit4, typename Visit1>
__device__ void for_each_quad(std::uint32_t begin, std::uint32_t end, std::uint32_t thread,
                              std::uint32_t threads, const Visit4& visit4, const Visit1& visit1) {
  const std::uint32_t quads = (end - begin) / kPerThread;
  for (std::uint32_t q = thread; q < quads; q += threads) visit4(begin + q * kPerThread);
  for (std::uint32_t i = begin + quads * kPerThread + thread; i < end; i += threads) visit1(i);
}

// The element functions are those of the scalar specification, compiled for the device.
struct Half {
  static __device__ std::uint16_t encode(float x) { return quantize::half_of(x); }
  static __device__ float decode(std::uint16_t h) { return quantize::float_of_half(h); }
};
struct Bfloat {
  static __device__ std::uint16_t encode(float x) { return quantize::bfloat_of(x); }
  static __device__ float decode(std::uint16_t b) { return quantize::float_of_bfloat(b); }
};

template <typename Format>
__global__ void to_16_bits(const float* x, std::uint32_t n, std::uint16_t* out,
                           std::uint32_t* largest) {
  std::uint32_t seen = 0;
  for_each_quad(
      0, n, blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x,
      [&](std::uint32_t i) {
        const float4 v = *reinterpret_cast<const float4*>(x + i);
        seen =
            max(max(max(seen, magnitude_bits(v.x)), max(magnitude_bits(v.y), magnitude_bits(v.z))),
                magnitude_bits(v.w));
        *reinterpret_cast<ushort4*>(out + i) = make_ushort4(
            Format::encode(v.x), Format::encode(v.y), Format::encode(v.z), Format::encode(v.w));
      },
      [&](std::uint32_t i) {
        seen = max(seen, magnitude_bits(x[i]));
        out[i] = Format::encode(x[i]);
      });
  // One atomic per block instead of one per value.
  seen = block_max(seen);
  if (threadIdx.x == 0) atomicMax(largest, seen);
}

template <typename Format>
__global__ void from_16_bits(const std::uint16_t* in, std::uint32_t n, float* x,
                             std::uint32_t* largest) {
  std::uint32_t seen = 0;
  const auto magnitude = [](std::uint16_t word) {
    return static_cast<std::uint32_t>(word & 0x7fffu);
  };
  for_each_quad(
      0, n, blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x,
      [&](std::uint32_t i) {
        const ushort4 w = *reinterpret_cast<const ushort4*>(in + i);
        seen = max(max(max(seen, magnitude(w.x)), max(magnitude(w.y), magnitude(w.z))),
                   magnitude(w.w));
        *reinterpret_cast<float4*>(x + i) = make_float4(Format::decode(w.x), Format::decode(w.y),
                                                        Format::decode(w.z), Format::decode(w.w));
      },
      [&](std::uint32_t i) {
        seen = max(seen, magnitude(in[i]));
        x[i] = Format::decode(in[i]);
      });
  seen = block_max(seen);
  if (threadIdx.x == 0) atomicMax(largest, seen);
}

// A random draw depends only on the key and the element's index, so it does not depend on the
// division into threads.
__device__ std::int8_t level_of(float x, BlockScale scale, const LevelFormat& format,
                                std::uint32_t element) {
  return format.random_rounding
             ? quantize::random_level(x, scale.levels_per_unit, random_bits(format.key, element))
             : quantize::nearest_level(x, scale.levels_per_unit);
}

__device__ std::uint32_t largest_of(const float* x, std::uint32_t begin, std::uint32_t end) {
  std::uint32_t seen = 0;
  for_each_quad(
      begin, end, threadIdx.x, blockDim.x,
      [&](std::uint32_t i) {
        const float4 v = *reinterpret_cast<const float4*>(x + i);
        seen =
            max(max(max(seen, magnitude_bits(v.x)), max(magnitude_bits(v.y), magnitude_bits(v.z))),
                magnitude_bits(v.w));
      },
      [&](std::uint32_t i) { seen = max(seen, magnitude_bits(x[i])); });
  return block_max(seen);
}

__device__ void write_levels(const float* x, std::uint32_t begin, std::uint32_t end,
                             BlockScale scale, const LevelFormat& format, std::int8_t* levels) {
  for_each_quad(
      begin, end, threadIdx.x, blockDim.x,
      [&](std::uint32_t i) {
        const float4 v = *reinterpret_cast<const float4*>(x + i);
        *reinterpret_cast<char4*>(levels + i) =
            make_char4(level_of(v.x, scale, format, i), level_of(v.y, scale, format, i + 1),
                       level_of(v.z, scale, format, i + 2), level_of(v.w, scale, format, i + 3));
      },
      [&](std::uint32_t i) { levels[i] = level_of(x[i], scale, format, i); });
}

// The parts of the quantization that a kernel does. They are template arguments, so that no branch
// on them remains in the kernel.
enum class Work { find_scales, use_scales, both };

// One CUDA block per block of values. If it does both kinds of work, the second read of the values
// hits the first-level cache.
template <Work kWork>
__global__ void quantize_blocks(const float* x, std::uint32_t n, LevelFormat format, float* scales,
                                std::int8_t* levels) {
  const std::uint32_t blocks = (n + format.block - 1) / format.block;
  for (std::uint32_t block = blockIdx.x; block < blocks; block += gridDim.x) {
    const std::uint32_t begin = block * format.block;
    const std::uint32_t end = min(n, begin + format.block);
    float largest = 0;
    if constexpr (kWork == Work::use_scales) {
      largest = scales[block];
    } else {
      largest = std::bit_cast<float>(largest_of(x, begin, end));
      if (threadIdx.x == 0) scales[block] = largest;
    }
    if constexpr (kWork != Work::find_scales) {
      write_levels(x, begin, end, block_scale(largest), format, levels);
    }
  }
}

// The vector type of four levels, for one load per group.
template <typename Level>
struct Quad;
template <>
struct Quad<std::int8_t> {
  using Type = char4;
};
template <>
struct Quad<std::int16_t> {
  using Type = short4;
};
template <>
struct Quad<std::int32_t> {
  using Type = int4;
};

template <typename Level>
__global__ void dequantize_blocks(const Level* levels, std::uint32_t n, std::uint32_t block_values,
                                  const float* scales, float* x) {
  for_each_quad(
      0, n, blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x,
      [&](std::uint32_t i) {
        // Four neighbours share a scale, because a block has a multiple of 64 values.
        const float step = block_scale(scales[i / block_values]).step;
        const auto l = *reinterpret_cast<const typename Quad<Level>::Type*>(levels + i);
        *reinterpret_cast<float4*>(x + i) =
            make_float4(static_cast<float>(l.x) * step, static_cast<float>(l.y) * step,
                        static_cast<float>(l.z) * step, static_cast<float>(l.w) * step);
      },
      [&](std::uint32_t i) {
        x[i] = static_cast<float>(levels[i]) * block_scale(scales[i / block_values]).step;
      });
}

template <Work kWork>
Status launch_quantize(const float* x, std::uint32_t n, const LevelFormat& format, float* scales,
                       std::int8_t* levels, Stream stream) {
  if (n == 0) return {};
  const std::uint32_t blocks = (n + format.block - 1) / format.block;
  const unsigned grid = blocks < kBlocksMax ? blocks : kBlocksMax;
  quantize_blocks<kWork><<<grid, kThreads, 0, stream>>>(x, n, format, scales, levels);
  return launched("quantize_blocks");
}

template <typename Level>
Status launch_dequantize(const Level* levels, std::uint32_t n, const LevelFormat& format,
                         const float* scales, float* x, Stream stream) {
  if (n == 0) return {};
  dequantize_blocks<<<grid_for(n), kThreads, 0, stream>>>(levels, n, format.block, scales, x);
  return launched("dequantize_blocks");
}

template <typename Format>
Status launch_to_16(const float* x, std::uint32_t n, std::uint16_t* out, std::uint32_t* largest,
                    Stream stream) {
  if (n == 0) return {};
  to_16_bits<Format><<<grid_for(n), kThreads, 0, stream>>>(x, n, out, largest);
  return launched("to_16_bits");
}

template <typename Format>
Status launch_from_16(const std::uint16_t* in, std::uint32_t n, float* x, std::uint32_t* largest,
                      Stream stream) {
  if (n == 0) return {};
  from_16_bits<Format><<<grid_for(n), kThreads, 0, stream>>>(in, n, x, largest);
  return launched("from_16_bits");
}

}  // namespace

Status to_half(const float* x, std::uint32_t n, std::uint16_t* out, std::uint32_t* largest,
               Stream stream) {
  return launch_to_16<Half>(x, n, out, largest, stream);
}
Status to_bfloat(const float* x, std::uint32_t n, std::uint16_t* out, std::uint32_t* largest,
                 Stream stream) {
  return launch_to_16<Bfloat>(x, n, out, largest, stream);
}
Status from_half(const std::uint16_t* in, std::uint32_t n, float* x, std::uint32_t* largest,
                 Stream stream) {
  return launch_from_16<Half>(in, n, x, largest, stream);
}
Status from_bfloat(const std::uint16_t* in, std::uint32_t n, float* x, std::uint32_t* largest,
                   Stream stream) {
  return launch_from_16<Bfloat>(in, n, x, largest, stream);
}

Status find_scales(const float* x, std::uint32_t n, const LevelFormat& format, float* scales,
                   Stream stream) {
  return launch_quantize<Work::find_scales>(x, n, format, scales, nullptr, stream);
}
Status to_levels(const float* x, std::uint32_t n, const LevelFormat& format, const float* scales,
                 std::int8_t* levels, Stream stream) {
  // The kernel writes scales only in its other modes.
  return launch_quantize<Work::use_scales>(x, n, format, const_cast<float*>(scales), levels,
                                           stream);
}
Status to_scales_and_levels(const float* x, std::uint32_t n, const LevelFormat& format,
                            float* scales, std::int8_t* levels, Stream stream) {
  return launch_quantize<Work::both>(x, n, format, scales, levels, stream);
}

Status from_levels8(const std::int8_t* levels, std::uint32_t n, const LevelFormat& format,
                    const float* scales, float* x, Stream stream) {
  return launch_dequantize(levels, n, format, scales, x, stream);
}
Status from_levels16(const std::int16_t* levels, std::uint32_t n, const LevelFormat& format,
                     const float* scales, float* x, Stream stream) {
  return launch_dequantize(levels, n, format, scales, x, stream);
}
Status from_levels32(const std::int32_t* levels, std::uint32_t n, const LevelFormat& format,
                     const float* scales, float* x, Stream stream) {
  return launch_dequantize(levels, n, format, scales, x, stream);
}

}  // namespace tributary::cuda
