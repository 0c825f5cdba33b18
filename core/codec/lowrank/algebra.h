// The products that PowerSGD is made of. Everything is added up in double and in one order,
// whatever the number of threads; a product of two float32 is exact there, so that fused
// multiply-add would not change a bit either.
//
// A factor is stored column after column: value i of column k of a left factor is
// left[k * rows + i], of a right one right[k * cols + i].
#pragma once

#include <algorithm>
#include <span>

#include "core/base/bytes/bytes.h"
#include "core/codec/codec.h"

namespace tributary::lowrank {

using DoubleVector = RawVector<double>;

// Row-major; rows may be cut short at the end, and what is missing counts as zero.
struct MatrixView {
  std::span<const float> values;
  std::size_t rows;
  std::size_t cols;

  std::span<const float> row(std::size_t index) const {
    const std::size_t begin = std::min(index * cols, values.size());
    return values.subspan(begin, std::min(cols, values.size() - begin));
  }
};

// left = scale · matrix · right, rounded to float32. Returns the sum of the matrix's squares, which
// is finite where all its values are.
double multiply(const Execution& execution, const MatrixView& matrix, std::span<const float> right,
                double scale, std::span<float> left);

// right = matrixᵀ · left.
void multiply_transposed(const Execution& execution, const MatrixView& matrix,
                         std::span<const float> left, DoubleVector& right);

// values = scale · left · rightᵀ, held within the range of float32 and rounded once.
void expand(const Execution& execution, std::size_t rows, std::size_t cols,
            std::span<const float> left, std::span<const float> right, double scale,
            std::span<float> values);

// Gram and Schmidt: columns of length 1 that stand on each other at right angles. A column that is
// zero or all but depends on those before it becomes zero.
void orthonormalise(std::size_t rows, std::span<float> left);

}  // namespace tributary::lowrank
