// The loops of core/codec/quantize on a device. They produce the same bytes as its Kernels.
//
// Requirements: all pointers are to memory of the device. float arrays are aligned to 16 bytes,
// 16-bit arrays to 8, 8-bit arrays to 4, and sums to the size of four of them, as buckets are that
// begin at multiples of 64 values. The functions only start the work in the queue; Queue::wait()
// returns its errors.
#pragma once

#include <cstdint>

#include "core/codec/cuda/device.h"
#include "core/codec/quantize/device_loops.h"

namespace tributary::TRIBUTARY_DEVICE {

using quantize::LevelFormat;

// Encoders raise *largest to the bits of the largest magnitude (kInfinityBits or more: a
// value is Inf or NaN), decoders to the largest 16-bit magnitude. The caller initializes *largest.
Status to_half(const Queue& queue, const float* x, std::uint32_t n, std::uint16_t* out,
               std::uint32_t* largest);
Status to_bfloat(const Queue& queue, const float* x, std::uint32_t n, std::uint16_t* out,
                 std::uint32_t* largest);
Status from_half(const Queue& queue, const std::uint16_t* in, std::uint32_t n, float* x,
                 std::uint32_t* largest);
Status from_bfloat(const Queue& queue, const std::uint16_t* in, std::uint32_t n, float* x,
                   std::uint32_t* largest);

// Sets scales[b] to the largest magnitude of block b.
Status find_scales(const Queue& queue, const float* x, std::uint32_t n, const LevelFormat& format,
                   float* scales);
// Quantizes with given scales (int8_shared).
Status to_levels(const Queue& queue, const float* x, std::uint32_t n, const LevelFormat& format,
                 const float* scales, std::int8_t* levels);
// Does both (int8). Blocks of up to 4096 values are read once.
Status to_scales_and_levels(const Queue& queue, const float* x, std::uint32_t n,
                            const LevelFormat& format, float* scales, std::int8_t* levels);

// The inverse functions for levels of 8 bits, and for sums of levels of 16 and 32 bits.
Status from_levels8(const Queue& queue, const std::int8_t* levels, std::uint32_t n,
                    const LevelFormat& format, const float* scales, float* x);
Status from_levels16(const Queue& queue, const std::int16_t* levels, std::uint32_t n,
                     const LevelFormat& format, const float* scales, float* x);
Status from_levels32(const Queue& queue, const std::int32_t* levels, std::uint32_t n,
                     const LevelFormat& format, const float* scales, float* x);

}  // namespace tributary::TRIBUTARY_DEVICE
