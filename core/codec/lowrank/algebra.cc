#include "core/codec/lowrank/algebra.h"

#include <array>
#include <cassert>
#include <cmath>

#include "core/codec/chunks.h"
#include "core/codec/lowrank/kernels.h"
#include "core/codec/simd/ordered_sum.h"

namespace tributary::lowrank {
namespace {

// A column of float32 sums that depends on the others leaves only their rounding error, about 2^-24
// of its length.
constexpr double kDependent = 0x1p-20;

constexpr std::size_t kStripCols = 512;  // a strip of sums (4 kB) stays in the first-level cache

// Number of rows that hold about kChunkValues values.
std::size_t rows_per_piece(std::size_t cols) {
  return std::max<std::size_t>(1, kChunkValues / std::max<std::size_t>(1, cols));
}

// Adds to columns [begin, end) of `right`, with rows in ascending order. A few rows at a time are
// processed for all columns of `left`, so that they are still in the first-level cache for the next
// column.
void add_strip(const Kernels& loops, const MatrixView& matrix, std::span<const float> left,
               std::size_t begin, std::size_t end, DoubleVector& right) {
  const std::size_t rank = left.size() / matrix.rows;
  const auto add = [&](std::size_t row, std::size_t rows, std::size_t width) {
    for (std::size_t k = 0; k < rank; ++k) {
      loops.add_rows(matrix.values.data() + row * matrix.cols + begin, matrix.cols, rows,
                     left.data() + k * matrix.rows + row, right.data() + k * matrix.cols + begin,
                     width);
    }
  };
  const std::size_t whole_rows = matrix.values.size() / matrix.cols;
  std::size_t row = 0;
  for (; row + kRowsTogether <= whole_rows; row += kRowsTogether) {
    add(row, kRowsTogether, end - begin);
  }
  for (; row < matrix.rows; ++row) {
    const std::size_t filled = std::min(matrix.row(row).size(), end);
    if (filled > begin) add(row, 1, filled - begin);
  }
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
  const Kernels& loops = kernels(execution.backend);
  const std::size_t rank = right.size() / matrix.cols;
  // Row sums are added in a fixed order at the end, so that the result does not depend on the
  // threads.
  DoubleVector squares(matrix.rows);
  const auto multiply_row = [&](std::size_t i) {
    const std::span<const float> row = matrix.row(i);
    std::array<double, kRankMax> products;
    loops.dot_columns(row.data(), row.size(), row.data(), 0, 1, &squares[i]);
    loops.dot_columns(row.data(), row.size(), right.data(), matrix.cols, rank, products.data());
    for (std::size_t k = 0; k < rank; ++k) {
      left[k * matrix.rows + i] = static_cast<float>(products[k] * scale);
    }
  };
  for_each_chunk(execution, matrix.rows, rows_per_piece(matrix.cols),
                 [&](std::size_t, std::size_t begin, std::size_t end) {
                   for (std::size_t i = begin; i < end; ++i) multiply_row(i);
                 });
  return ordered_sum(squares);
}

void multiply_transposed(const Execution& execution, const MatrixView& matrix,
                         std::span<const float> left, DoubleVector& right) {
  right.assign(left.size() / matrix.rows * matrix.cols, 0.0);
  // Each strip of columns belongs to one thread, which adds all rows in order.
  const Kernels& loops = kernels(execution.backend);
  for_each_chunk(execution, matrix.cols, kStripCols,
                 [&](std::size_t, std::size_t begin, std::size_t end) {
                   add_strip(loops, matrix, left, begin, end, right);
                 });
}

void expand(const Execution& execution, std::size_t rows, std::size_t cols,
            std::span<const float> left, std::span<const float> right, double scale,
            std::span<float> values) {
  const Kernels& loops = kernels(execution.backend);
  const std::size_t rank = left.size() / rows;
  const auto write_row = [&](std::size_t row) {
    std::array<double, kRankMax> weights;
    for (std::size_t k = 0; k < rank; ++k) weights[k] = static_cast<double>(left[k * rows + row]);
    const std::size_t begin = std::min(row * cols, values.size());
    const std::span<float> out = values.subspan(begin, std::min(cols, values.size() - begin));
    loops.expand_row(weights.data(), right.data(), cols, rank, scale, out.data(), out.size());
  };
  for_each_chunk(execution, rows, rows_per_piece(cols),
                 [&](std::size_t, std::size_t begin, std::size_t end) {
                   for (std::size_t row = begin; row < end; ++row) write_row(row);
                 });
}

void orthonormalise(std::size_t rows, std::span<float> left) {
  DoubleVector basis(left.begin(), left.end());
  for (std::size_t at = 0; at < basis.size(); at += rows) {
    const auto column = std::span(basis).subspan(at, rows);
    const double before = length(column);
    for (int pass = 0; pass < 2; ++pass) {  // the second removes the first one's errors
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
