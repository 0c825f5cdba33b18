// The matrix products of PowerSGD on a device (core/codec/lowrank/algebra.h), for one matrix each.
//
// Requirements: all pointers are to memory of the device, aligned to their element type. The rank
// is 1 to kRankMax. The functions only start the work in the queue; Queue::wait() returns its
// errors.
#pragma once

#include <cstdint>

#include "core/codec/cuda/device.h"

namespace tributary::TRIBUTARY_DEVICE {

// A row-major matrix. Its last rows may be incomplete; missing values count as zero.
struct DeviceMatrix {
  const float* values;
  std::uint32_t count;  // values that are there
  std::uint32_t rows;
  std::uint32_t cols;
  std::uint32_t rank;  // of its factors
};

// Sets left = scale · matrix · right, rounded to float32, and squares[i] to the sum of the squares
// of row i.
Status multiply_rows(const Queue& queue, const DeviceMatrix& matrix, const float* right,
                     double scale, float* left, double* squares);

// Sets right = matrixᵀ · left.
Status multiply_columns(const Queue& queue, const DeviceMatrix& matrix, const float* left,
                        double* right);

// Sets values = scale · left · rightᵀ, limited to the range of float32. matrix.values is not read.
Status expand_factors(const Queue& queue, const DeviceMatrix& matrix, const float* left,
                      const float* right, double scale, float* values);

}  // namespace tributary::TRIBUTARY_DEVICE
