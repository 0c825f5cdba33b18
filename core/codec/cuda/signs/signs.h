// The loops of core/codec/signs on a device.
//
// Requirements: all pointers are to memory of the device, aligned to 16 bytes, or to 4 for sign
// bits and counts. Sign bits have room for a multiple of 16 bytes. The functions only start the
// work in the queue; Queue::wait() returns its errors.
#pragma once

#include <cstdint>

#include "core/codec/cuda/device.h"
#include "core/codec/signs/device_loops.h"

namespace tributary::TRIBUTARY_DEVICE {

using signs::Worth;
using signs::WorthRule;

// Encoders raise *largest to the bits of the largest magnitude. The caller initializes it.
Status pack_signs(const Queue& queue, const float* x, std::uint32_t n, std::uint8_t* bits,
                  std::uint32_t* largest);
// `block` is a power of two, 64 or more.
Status pack_scaled_signs(const Queue& queue, WorthRule rule, std::uint32_t block, const float* x,
                         std::uint32_t n, Worth* worths, std::uint8_t* bits,
                         std::uint32_t* largest);

Status unpack_signs(const Queue& queue, const std::uint8_t* bits, float step, std::uint32_t n,
                    float* x);
Status unpack_scaled_signs(const Queue& queue, std::uint32_t block, const Worth* worths,
                           const std::uint8_t* bits, std::uint32_t n, float* x);

Status count_votes8(const Queue& queue, const std::uint8_t* counts, std::uint32_t n,
                    std::uint32_t voters, float step, float* x);
Status count_votes16(const Queue& queue, const std::uint16_t* counts, std::uint32_t n,
                     std::uint32_t voters, float step, float* x);
Status count_votes32(const Queue& queue, const std::uint32_t* counts, std::uint32_t n,
                     std::uint32_t voters, float step, float* x);

}  // namespace tributary::TRIBUTARY_DEVICE
