#include "core/codec/cuda/quantize/quantize.h"

#include "core/codec/cuda/block.h"
#include "core/codec/quantize/elements.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

using quantize::block_scale;
using quantize::BlockScale;

__device__ std::uint32_t largest_in(float4 v) {
  return max(max(magnitude_bits(v.x), magnitude_bits(v.y)),
             max(magnitude_bits(v.z), magnitude_bits(v.w)));
}

// Returns the largest value of each group of kLanes neighbouring threads, to each of them: , 16 or
// a multiple of a warp.
template <unsigned kLanes>
__device__ std::uint32_t group_max(std::uint32_t value) {
  if constexpr (kLanes == kThreads) {
    return block_max(value);
  } else if constexpr (kLanes == kWarpThreads) {
    return __reduce_max_sync(kAllLanes, value);
  } else {
    for (unsigned lanes = kLanes / 2; lanes > 0; lanes /= 2) {
      value = max(value, __shfl_xor_sync(kAllLanes, value, lanes));
    }
    return value;
  }
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
  const std::uint32_t quads = quads_of(n);
  for (std::uint32_t quad = blockIdx.x * kThreads + threadIdx.x; quad < quads;
       quad += gridDim.x * kThreads) {
    const std::uint32_t i = quad * kPerThread;
    const float4 v = load_quad(x, i, n);
    seen = max(seen, largest_in(v));
    store_quad(out, i, n,
               make_ushort4(Format::encode(v.x), Format::encode(v.y), Format::encode(v.z),
                            Format::encode(v.w)));
  }
  // One atomic per block instead of one per value.
  seen = block_max(seen);
  if (threadIdx.x == 0) atomicMax(largest, seen);
}

template <typename Format>
__global__ void from_16_bits(const std::uint16_t* in, std::uint32_t n, float* x,
                             std::uint32_t* largest) {
  const auto magnitude = [](std::uint16_t word) {
    return static_cast<std::uint32_t>(word & 0x7fffu);
  };
  std::uint32_t seen = 0;
  const std::uint32_t quads = quads_of(n);
  for (std::uint32_t quad = blockIdx.x * kThreads + threadIdx.x; quad < quads;
       quad += gridDim.x * kThreads) {
    const std::uint32_t i = quad * kPerThread;
    const ushort4 w = load_quad(in, i, n);
    seen = max(max(max(seen, magnitude(w.x)), max(magnitude(w.y), magnitude(w.z))), magnitude(w.w));
    store_quad(x, i, n,
               make_float4(Format::decode(w.x), Format::decode(w.y), Format::decode(w.z),
                           Format::decode(w.w)));
  }
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

__device__ char4 levels_of(float4 v, BlockScale scale, const LevelFormat& format, std::uint32_t i) {
  return make_char4(level_of(v.x, scale, format, i), level_of(v.y, scale, format, i + 1),
                    level_of(v.z, scale, format, i + 2), level_of(v.w, scale, format, i + 3));
}

// The parts of the quantization that a kernel does. They are template arguments, so that no branch
// on them remains in the kernel.
enum class Work { find_scales, use_scales, both };

// A group of kLanes threads takes one block of values at a time. Each thread keeps its kQuads quads
// of the block in registers between the two kinds of work. With kQuads = 0 a block is too large for
// that and is read twice. All threads of a CUDA block take the same number of turns, because
// group_max() needs them all.
template <Work kWork, unsigned kLanes, unsigned kQuads>
__global__ void quantize_blocks(const float* x, std::uint32_t n, LevelFormat format, float* scales,
                                std::int8_t* levels) {
  constexpr unsigned kGroups = kThreads / kLanes;
  constexpr std::uint32_t kStride = kLanes * kPerThread;
  const unsigned lane = threadIdx.x % kLanes;
  const std::uint32_t blocks = n / format.block + (n % format.block != 0 ? 1 : 0);
  for (std::uint32_t first = blockIdx.x * kGroups; first < blocks; first += gridDim.x * kGroups) {
    const std::uint32_t block = first + threadIdx.x / kLanes;
    const bool exists = block < blocks;
    const std::uint32_t begin = exists ? block * format.block : n;
    const std::uint32_t size = min(format.block, n - begin);
    const std::uint32_t end = begin + size;

    float4 kept[kQuads > 0 ? kQuads : 1] = {};
    if constexpr (kQuads > 0) {
      for (unsigned turn = 0; turn < kQuads; ++turn) {
        const std::uint32_t offset = turn * kStride + lane * kPerThread;
        if (offset < size) kept[turn] = load_quad(x, begin + offset, end);
      }
    }

    float largest = 0;
    if constexpr (kWork == Work::use_scales) {
      if (exists) largest = scales[block];
    } else {
      std::uint32_t seen = 0;
      if constexpr (kQuads > 0) {
        for (unsigned turn = 0; turn < kQuads; ++turn) seen = max(seen, largest_in(kept[turn]));
      } else {
        for (std::uint32_t offset = lane * kPerThread; offset < size; offset += kStride) {
          seen = max(seen, largest_in(load_quad(x, begin + offset, end)));
        }
      }
      largest = std::bit_cast<float>(group_max<kLanes>(seen));
      if (exists && lane == 0) scales[block] = largest;
    }

    if constexpr (kWork != Work::find_scales) {
      const BlockScale scale = block_scale(largest);
      if constexpr (kQuads > 0) {
        for (unsigned turn = 0; turn < kQuads; ++turn) {
          const std::uint32_t offset = turn * kStride + lane * kPerThread;
          if (offset >= size) continue;
          const std::uint32_t i = begin + offset;
          store_quad(levels, i, end, levels_of(kept[turn], scale, format, i));
        }
      } else {
        for (std::uint32_t offset = lane * kPerThread; offset < size; offset += kStride) {
          const std::uint32_t i = begin + offset;
          store_quad(levels, i, end, levels_of(load_quad(x, i, end), scale, format, i));
        }
      }
    }
  }
}

// A warp takes a run of 32 pieces of 64 values. A piece lies in one block, because a block is a
// multiple of 64 values. Each lane computes the step of one piece, so that there is one division
// for 16 quads of values.
constexpr std::uint32_t kPiece = 64;
constexpr std::uint32_t kRun = kWarpThreads * kPiece;

template <typename Level>
__global__ void dequantize_blocks(const Level* levels, std::uint32_t n, unsigned block_shift,
                                  const float* scales, float* x) {
  const unsigned lane = threadIdx.x % kWarpThreads;
  const std::uint32_t runs = n / kRun + (n % kRun != 0 ? 1 : 0);
  for (std::uint32_t run = (blockIdx.x * kThreads + threadIdx.x) / kWarpThreads; run < runs;
       run += gridDim.x * (kThreads / kWarpThreads)) {
    const std::uint32_t begin = run * kRun;
    const std::uint32_t size = min(kRun, n - begin);
    const std::uint32_t piece = lane * kPiece;
    const float own_step =
        piece < size ? block_scale(scales[(begin + piece) >> block_shift]).step : 0.0f;
    for (unsigned turn = 0; turn < kRun / kWarpThreads / kPerThread; ++turn) {
      const std::uint32_t offset = (turn * kWarpThreads + lane) * kPerThread;
      const float step = __shfl_sync(kAllLanes, own_step, offset / kPiece);
      if (offset >= size) continue;
      const Quad<Level> level = load_quad(levels, begin + offset, n);
      store_quad(
          x, begin + offset, n,
          make_float4(static_cast<float>(level.x) * step, static_cast<float>(level.y) * step,
                      static_cast<float>(level.z) * step, static_cast<float>(level.w) * step));
    }
  }
}

template <Work kWork, unsigned kLanes, unsigned kQuads>
Status launch_groups(const Queue& queue, const float* x, std::uint32_t n, const LevelFormat& format,
                     float* scales, std::int8_t* levels) {
  return launch(quantize_blocks<kWork, kLanes, kQuads>,
                shape_for(queue, "quantize_blocks", n, format.block * (kThreads / kLanes)), x, n,
                format, scales, levels);
}

// Chooses the number of threads for a block of values so that each has work, and few quads to keep.
template <Work kWork>
Status launch_quantize(const Queue& queue, const float* x, std::uint32_t n,
                       const LevelFormat& format, float* scales, std::int8_t* levels) {
  if (n == 0) return {};
  switch (format.block) {
    case 64:
      return launch_groups<kWork, 16, 1>(queue, x, n, format, scales, levels);
    case 128:
      return launch_groups<kWork, 32, 1>(queue, x, n, format, scales, levels);
    case 256:
      return launch_groups<kWork, 32, 2>(queue, x, n, format, scales, levels);
    case 512:
      return launch_groups<kWork, 32, 4>(queue, x, n, format, scales, levels);
    case 1024:
      // Eight quads leave too few registers for the levels. A block that has its scale is read only
      // once anyway, and otherwise more threads keep fewer quads.
      if constexpr (kWork == Work::find_scales) {
        return launch_groups<kWork, 32, 8>(queue, x, n, format, scales, levels);
      } else if constexpr (kWork == Work::use_scales) {
        return launch_groups<kWork, 32, 0>(queue, x, n, format, scales, levels);
      } else {
        return launch_groups<kWork, kThreads, 1024 / (kThreads * kPerThread)>(queue, x, n, format,
                                                                              scales, levels);
      }
    case 2048:
      return launch_groups<kWork, kThreads, 2048 / (kThreads * kPerThread)>(queue, x, n, format,
                                                                            scales, levels);
    case 4096:
      return launch_groups<kWork, kThreads, 4096 / (kThreads * kPerThread)>(queue, x, n, format,
                                                                            scales, levels);
    default:
      return launch_groups<kWork, kThreads, 0>(queue, x, n, format, scales, levels);
  }
}

template <typename Level>
Status launch_dequantize(const Queue& queue, const Level* levels, std::uint32_t n,
                         const LevelFormat& format, const float* scales, float* x) {
  if (n == 0) return {};
  return launch(dequantize_blocks<Level>,
                shape_for(queue, "dequantize_blocks", n, kRun * (kThreads / kWarpThreads)), levels,
                n, static_cast<unsigned>(std::countr_zero(format.block)), scales, x);
}

template <typename Format>
Status launch_to_16(const Queue& queue, const float* x, std::uint32_t n, std::uint16_t* out,
                    std::uint32_t* largest) {
  if (n == 0) return {};
  return launch(to_16_bits<Format>, shape_for(queue, "to_16_bits", n, kThreads * kPerThread), x, n,
                out, largest);
}

template <typename Format>
Status launch_from_16(const Queue& queue, const std::uint16_t* in, std::uint32_t n, float* x,
                      std::uint32_t* largest) {
  if (n == 0) return {};
  return launch(from_16_bits<Format>, shape_for(queue, "from_16_bits", n, kThreads * kPerThread),
                in, n, x, largest);
}

}  // namespace

Status to_half(const Queue& queue, const float* x, std::uint32_t n, std::uint16_t* out,
               std::uint32_t* largest) {
  return launch_to_16<Half>(queue, x, n, out, largest);
}
Status to_bfloat(const Queue& queue, const float* x, std::uint32_t n, std::uint16_t* out,
                 std::uint32_t* largest) {
  return launch_to_16<Bfloat>(queue, x, n, out, largest);
}
Status from_half(const Queue& queue, const std::uint16_t* in, std::uint32_t n, float* x,
                 std::uint32_t* largest) {
  return launch_from_16<Half>(queue, in, n, x, largest);
}
Status from_bfloat(const Queue& queue, const std::uint16_t* in, std::uint32_t n, float* x,
                   std::uint32_t* largest) {
  return launch_from_16<Bfloat>(queue, in, n, x, largest);
}

Status find_scales(const Queue& queue, const float* x, std::uint32_t n, const LevelFormat& format,
                   float* scales) {
  return launch_quantize<Work::find_scales>(queue, x, n, format, scales, nullptr);
}
Status to_levels(const Queue& queue, const float* x, std::uint32_t n, const LevelFormat& format,
                 const float* scales, std::int8_t* levels) {
  // The kernel writes scales only in its other modes.
  return launch_quantize<Work::use_scales>(queue, x, n, format, const_cast<float*>(scales), levels);
}
Status to_scales_and_levels(const Queue& queue, const float* x, std::uint32_t n,
                            const LevelFormat& format, float* scales, std::int8_t* levels) {
  return launch_quantize<Work::both>(queue, x, n, format, scales, levels);
}

Status from_levels8(const Queue& queue, const std::int8_t* levels, std::uint32_t n,
                    const LevelFormat& format, const float* scales, float* x) {
  return launch_dequantize(queue, levels, n, format, scales, x);
}
Status from_levels16(const Queue& queue, const std::int16_t* levels, std::uint32_t n,
                     const LevelFormat& format, const float* scales, float* x) {
  return launch_dequantize(queue, levels, n, format, scales, x);
}
Status from_levels32(const Queue& queue, const std::int32_t* levels, std::uint32_t n,
                     const LevelFormat& format, const float* scales, float* x) {
  return launch_dequantize(queue, levels, n, format, scales, x);
}

}  // namespace tributary::TRIBUTARY_DEVICE
