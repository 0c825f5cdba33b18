#include "core/codec/lowrank/algebra.h"

#include <array>
#include <cassert>
#include <cfloat>
#include <cmath>

#include "core/codec/chunks.h"
#include "core/codec/ordered_sum.h"

namespace tributary::lowrank {
namespace {

// What is left of a column of float32 sums that depends on others is their rounding, some 2^-24.
constexpr double kDependent = 0x1p-20;

constexpr std::size_t kStripCols = 512;  // a strip of sums stays in the first-level cache

std::size_t rows_per_piece(std::size_t cols) {
  return std::max<std::size_t>(1, kChunkValues / std::max<std::size_t>(1, cols));
}

// sums[j] += four rows of x, the first row first.
void add_four_rows(const float* x, std::size_t stride, const float* weights,
                   std::span<double> sums) {
  const auto a = static_cast<double>(weights[0]);
  const auto b = static_cast<double>(weights[1]);
  const auto c = static_cast<double>(weights[2]);
  const auto d = static_cast<double>(weights[3]);
  for (std::size_t j = 0; j < sums.size(); ++j) {
    double sum = sums[j] + static_cast<double>(x[j]) * a;
    sum += static_cast<double>(x[j + stride]) * b;
    sum += static_cast<double>(x[j + 2 * stride]) * c;
    sums[j] = sum + static_cast<double>(x[j + 3 * stride]) * d;
  }
}

// The sums of columns [begin, end), rows in ascending order; four of them at a time are still in
// the first-level cache when the next column of `left` asks for them.
void add_strip(const MatrixView& matrix, std::span<const float> left, std::size_t begin,
               std::size_t end, DoubleVector& right) {
  const std::size_t rank = left.size() / matrix.rows;
  const std::size_t whole_rows = matrix.values.size() / matrix.cols;
  std::size_t row = 0;
  for (; row + 4 <= whole_rows; row += 4) {
    for (std::size_t k = 0; k < rank; ++k) {
      add_four_rows(matrix.values.data() + row * matrix.cols + begin, matrix.cols,
                    left.data() + k * matrix.rows + row,
                    std::span(right).subspan(k * matrix.cols + begin, end - begin));
    }
  }
  for (; row < matrix.rows; ++row) {
    const std::span<const float> x = matrix.row(row);
    for (std::size_t k = 0; k < rank; ++k) {
      const auto weight = static_cast<double>(left[k * matrix.rows + row]);
      double* const sums = right.data() + k * matrix.cols;
      for (std::size_t j = begin; j < std::min(x.size(), end); ++j) {
        sums[j] += static_cast<double>(x[j]) * weight;
      }
    }
  }
}

float within_float(double value) {
  return static_cast<float>(std::min(double{FLT_MAX}, std::max(-double{FLT_MAX}, value)));
}

void remove_component(std::span<const double> unit, std::span<double> column) {
  const double part = ordered_dot<double>(unit, column);
  for (std::size_t i = 0; i < column.size(); ++i) column[i] -= part * unit[i];
}

double length(std::span<const double> column) {
  return std::sqrt(ordered_dot<double>(column, column));
}

}  // namespace

double multiply(const Execution& execution, const MatrixView& matrix, std::span<const float> right,
                double scale, std::span<float> left) {
  assert(matrix.cols > 0 && right.size() / matrix.cols == left.size() / matrix.rows);
  DoubleVector squares(matrix.rows);
  for_each_chunk(execution, matrix.rows, rows_per_piece(matrix.cols),
                 [&](std::size_t, std::size_t begin, std::size_t end) {
                   for (std::size_t i = begin; i < end; ++i) {
                     const std::span<const float> row = matrix.row(i);
                     squares[i] = ordered_dot(row, row);
                     for (std::size_t k = 0; k * matrix.cols < right.size(); ++k) {
                       const auto column = right.subspan(k * matrix.cols, row.size());
                       left[k * matrix.rows + i] =
                           static_cast<float>(ordered_dot(row, column) * scale);
                     }
                   }
                 });
  return ordered_sum(squares);
}

void multiply_transposed(const Execution& execution, const MatrixView& matrix,
                         std::span<const float> left, DoubleVector& right) {
  right.assign(left.size() / matrix.rows * matrix.cols, 0.0);
  for_each_chunk(execution, matrix.cols, kStripCols,
                 [&](std::size_t, std::size_t begin, std::size_t end) {
                   add_strip(matrix, left, begin, end, right);
                 });
}

void expand(const Execution& execution, std::size_t rows, std::size_t cols,
            std::span<const float> left, std::span<const float> right, double scale,
            std::span<float> values) {
  const std::size_t rank = left.size() / rows;
  const auto write_strip = [&](std::size_t row, std::size_t first, std::span<float> out) {
    std::array<double, kStripCols> sums = {};
    for (std::size_t k = 0; k < rank; ++k) {
      const auto weight = static_cast<double>(left[k * rows + row]);
      const float* const column = right.data() + k * cols + first;
      for (std::size_t j = 0; j < out.size(); ++j) {
        sums[j] += weight * static_cast<double>(column[j]);
      }
    }
    for (std::size_t j = 0; j < out.size(); ++j) out[j] = within_float(sums[j] * scale);
  };
  for_each_chunk(execution, rows, rows_per_piece(cols),
                 [&](std::size_t, std::size_t begin, std::size_t end) {
                   for (std::size_t row = begin; row < end; ++row) {
                     const std::size_t row_end = std::min((row + 1) * cols, values.size());
                     for (std::size_t at = row * cols; at < row_end; at += kStripCols) {
                       const std::size_t width = std::min(kStripCols, row_end - at);
                       write_strip(row, at - row * cols, values.subspan(at, width));
                     }
                   }
                 });
}

void orthonormalise(std::size_t rows, std::span<float> left) {
  DoubleVector basis(left.begin(), left.end());
  for (std::size_t at = 0; at < basis.size(); at += rows) {
    const auto column = std::span(basis).subspan(at, rows);
    const double before = length(column);
    for (int pass = 0; pass < 2; ++pass) {  // the second removes what the first rounded
      for (std::size_t earlier = 0; earlier < at; earlier += rows) {
        remove_component(std::span(basis).subspan(earlier, rows), column);
      }
    }
    const double after = length(column);
    const bool stands_out = after > before * kDependent;
    for (double& x : column) x = stands_out ? x / after : 0.0;
  }
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = static_cast<float>(basis[i]);
}

}  // namespace tributary::lowrank
