// Kernels that make a step of an optimizer. All arrays are in the memory of the device; the work is
// added to the queue.
#pragma once

#include <cstdint>

#include "core/codec/cuda/device.h"
#include "core/optimizer/one_value.h"

namespace tributary::TRIBUTARY_DEVICE {

// Consecutive values. All pointers that the formula uses are at the same distance, in bytes, from
// an address that is a multiple of 16. The arrays do not overlap.
struct StepArrays {
  const float* sum = nullptr;
  float* parameters = nullptr;
  float* first = nullptr;
  float* second = nullptr;
};

Status make_step(const Queue& queue, optimizer::Formula formula, const optimizer::Factors& factors,
                 const StepArrays& arrays, std::uint64_t n);

}  // namespace tributary::TRIBUTARY_DEVICE
