// The matrix products of PowerSGD for all factored matrices of a bucket, as a device computes them.
// The numbers are those of algebra.h, bit for bit. Spans are to host memory. Thread-safe.
#pragma once

#include <span>

#include "core/base/status.h"
#include "core/codec/lowrank/algebra.h"
#include "core/codec/lowrank/matrices.h"

namespace tributary::lowrank {

// The division of a bucket and the rank of its factors. Left factors stand where stage 0's body has
// them, right factors where stage 1's body has them.
struct Factors {
  const Matrices& matrices;
  std::size_t rank;
};

class DeviceLoops {
 public:
  virtual ~DeviceLoops() = default;

  // Sets every left factor to scale · matrix · right, and squares[i] to the sum of the squares of
  // matrix i. Bounds in `left`, and the squares of matrices that are not factored, are not written.
  virtual Status multiply(const Factors& factors, std::span<const float> values,
                          std::span<const float> right, std::span<const double> scales,
                          std::span<float> left, std::span<double> squares) = 0;

  // Sets every right factor to matrixᵀ · left.
  virtual Status multiply_transposed(const Factors& factors, std::span<const float> values,
                                     std::span<const float> left, std::span<double> right) = 0;

  // Sets the values of every factored matrix to scale · left · rightᵀ, limited to the range of
  // float32. Other values are not written.
  virtual Status expand(const Factors& factors, std::span<const float> left,
                        std::span<const float> right, std::span<const double> scales,
                        std::span<float> values) = 0;
};

}  // namespace tributary::lowrank
