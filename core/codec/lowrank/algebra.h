// The matrix products of PowerSGD.
//
// All sums are in double and in one order, for every number of threads and every backend. The
// product of two float32 is exact in double, so fused multiply-add does not change a bit. The
// functions are pure; each uses execution.pool if it is set. A product costs rows · cols · rank
// multiplications.
//
// A factor is stored column by column: value i of column k is left[k * rows + i] in a left factor
// and right[k * cols + i] in a right factor. The rank is the factor's size divided by that length,
// at most kRankMax.
#pragma once

#include <algorithm>
#include <span>

#include "core/base/bytes/bytes.h"
#include "core/codec/codec.h"

namespace tributary::lowrank {

using DoubleVector = RawVector<double>;

// A row-major matrix over memory of the caller. The last rows may be incomplete; missing values
// count as zero.
struct MatrixView {
  std::span<const float> values;
  std::size_t rows;
  std::size_t cols;

  std::span<const float> row(std::size_t index) const {
    const std::size_t begin = std::min(index * cols, values.size());
    return values.subspan(begin, std::min(cols, values.size() - begin));
  }
};

// Sets left = scale · matrix · right, rounded to float32. Returns the sum of the squares of the
// matrix; it is finite if all values are finite.
double multiply(const Execution& execution, const MatrixView& matrix, std::span<const float> right,
                double scale, std::span<float> left);

// Sets right = matrixᵀ · left. Resizes `right`.
void multiply_transposed(const Execution& execution, const MatrixView& matrix,
                         std::span<const float> left, DoubleVector& right);

// Sets values = scale · left · rightᵀ, limited to the range of float32 and rounded once. `values`
// may end before rows · cols.
void expand(const Execution& execution, std::size_t rows, std::size_t cols,
            std::span<const float> left, std::span<const float> right, double scale,
            std::span<float> values);

// Makes the columns orthogonal and of length 1 (Gram-Schmidt, two passes). A column that is zero,
// or that almost depends on the earlier ones, becomes zero.
void orthonormalise(std::size_t rows, std::span<float> left);

}  // namespace tributary::lowrank
