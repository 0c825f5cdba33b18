// The loops of the codec qsgd on a device: norms of blocks, and random levels of 2 to 8 bits.
//
// Requirements: all pointers are to memory of the device, aligned to 16 bytes. `packed` has room
// for whole groups of 32 levels. The functions only start the work in the queue; Queue::wait()
// returns its errors.
#pragma once

#include <cstdint>

#include "core/codec/cuda/device.h"
#include "core/codec/quantize/device_loops.h"

namespace tributary::TRIBUTARY_DEVICE {

using quantize::PackedFormat;

// Sets the norm of every block, and raises *largest to the bits of the largest magnitude. The
// caller initializes it.
Status find_norms(const Queue& queue, const float* x, std::uint32_t n, const PackedFormat& format,
                  float* norms, std::uint32_t* largest);
// Unused bits behind the last level are zero, up to the end of its byte.
Status to_packed_levels(const Queue& queue, const float* x, std::uint32_t n,
                        const PackedFormat& format, const float* norms, std::uint8_t* packed);
Status from_packed_levels(const Queue& queue, const std::uint8_t* packed, std::uint32_t n,
                          const PackedFormat& format, const float* norms, float* x);

}  // namespace tributary::TRIBUTARY_DEVICE
