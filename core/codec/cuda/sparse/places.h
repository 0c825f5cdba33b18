// Reads and writes the values of a bucket at given indices, on a device.
//
// Requirements: all pointers are to memory of the device; arrays of a bucket's size are aligned to
// 16 bytes. Indices are below n and distinct. The functions only start the work in the queue.
#pragma once

#include <cstdint>

#include "core/codec/cuda/device.h"

namespace tributary::TRIBUTARY_DEVICE {

// The indices of some values of a bucket.
struct Places {
  const std::uint32_t* indices;
  std::uint32_t count;
};

// Raises *largest to the largest magnitude of x; the caller initializes it.
Status find_largest(const Queue& queue, const float* x, std::uint32_t n, std::uint32_t* largest);

// Sets picked[i] = x[indices[i]].
Status pick_values(const Queue& queue, const float* x, const Places& places, float* picked);

// Sets all of x to zero, except for the given values at their indices.
Status scatter_values(const Queue& queue, const Places& places, const float* values,
                      std::uint32_t n, float* x);

// Sets x[indices[i]] += values[i].
Status add_values(const Queue& queue, const Places& places, const float* values, float* x);

}  // namespace tributary::TRIBUTARY_DEVICE
