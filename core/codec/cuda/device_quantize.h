// The loops of core/codec/quantize on the GPU. They produce the same bytes as its Kernels.
//
// Requirements: all pointers are to memory of the current device. float arrays are aligned to 16
// bytes, 16-bit arrays to 8 and 8-bit arrays to 4, as buckets are that begin at multiples of 64
// values. The functions only start the work on `stream`; wait() returns its errors.
#pragma once

#include <cstdint>

#include "core/base/random.h"
#include "core/codec/cuda/device.h"

namespace tributary::cuda {

// Encoders raise *largest to the bits of the largest magnitude (quantize::kInfinityBits or more: a
// value is Inf or NaN), decoders to the largest 16-bit magnitude. The caller initializes *largest.
Status to_half(const float* x, std::uint32_t n, std::uint16_t* out, std::uint32_t* largest,
               Stream stream);
Status to_bfloat(const float* x, std::uint32_t n, std::uint16_t* out, std::uint32_t* largest,
                 Stream stream);
Status from_half(const std::uint16_t* in, std::uint32_t n, float* x, std::uint32_t* largest,
                 Stream stream);
Status from_bfloat(const std::uint16_t* in, std::uint32_t n, float* x, std::uint32_t* largest,
                   Stream stream);

// How the values of a bucket are quantized: blocks that share a scale, with nearest or random
// rounding.
struct LevelFormat {
  std::uint32_t block = 4096;  // a power of two, 64 or more
  bool random_rounding = false;
  StreamKey key = {};
};

// Sets scales[b] to the largest magnitude of block b.
Status find_scales(const float* x, std::uint32_t n, const LevelFormat& format, float* scales,
                   Stream stream);
// Quantizes with given scales (int8_shared).
Status to_levels(const float* x, std::uint32_t n, const LevelFormat& format, const float* scales,
                 std::int8_t* levels, Stream stream);
// Does both in one pass over memory (int8).
Status to_scales_and_levels(const float* x, std::uint32_t n, const LevelFormat& format,
                            float* scales, std::int8_t* levels, Stream stream);

// The inverse functions for levels of 8 bits, and for sums of levels of 16 and 32 bits.
Status from_levels8(const std::int8_t* levels, std::uint32_t n, const LevelFormat& format,
                    const float* scales, float* x, Stream stream);
Status from_levels16(const std::int16_t* levels, std::uint32_t n, const LevelFormat& format,
                     const float* scales, float* x, Stream stream);
Status from_levels32(const std::int32_t* levels, std::uint32_t n, const LevelFormat& format,
                     const float* scales, float* x, Stream stream);

}  // namespace tributary::cuda
