// Kernels over whole vectors on a device. All arrays are in the memory of the device; the work is
// added to the queue. Sixteen bytes are loaded and stored at once where both arrays of a call are
// equally far from a multiple of 16 bytes.
#pragma once

#include <cstdint>

#include "core/codec/cuda/device.h"

namespace tributary::TRIBUTARY_DEVICE {

// Sets sum = sum + weight * x, or weight * x without `add`.
Status add_weighted(const Queue& queue, const float* x, float weight, std::uint64_t n, bool add,
                    float* sum);
// Sets decoded = x - decoded, and 0 where their bits are equal.
Status subtract_decoded(const Queue& queue, const float* x, std::uint64_t n, float* decoded);
// Writes the sum of squares of each block of the grid to `sums`, queue.grid_blocks() values at
// most; the blocks that are not used leave theirs as they are.
Status sum_squares(const Queue& queue, const float* x, std::uint64_t n, double* sums);

}  // namespace tributary::TRIBUTARY_DEVICE
