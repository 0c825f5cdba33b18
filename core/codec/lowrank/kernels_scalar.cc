#include <span>

#include "core/codec/lowrank/elements.h"
#include "core/codec/lowrank/kernels.h"
#include "core/codec/simd/ordered_sum.h"

namespace tributary::lowrank {
namespace {

// Sixteen lanes and a tree, like the SIMD version; a plain loop would add in another order.
void dot_columns(const float* row, std::size_t n, const float* columns, std::size_t stride,
                 std::size_t rank, double* products) {
  for (std::size_t k = 0; k < rank; ++k) {
    products[k] = ordered_dot(std::span(row, n), std::span(columns + k * stride, n));
  }
}

void add_rows(const float* x, std::size_t stride, std::size_t rows, const float* weights,
              double* sums, std::size_t n) {
  for (std::size_t row = 0; row < rows; ++row) {
    const auto weight = static_cast<double>(weights[row]);
    for (std::size_t j = 0; j < n; ++j) {
      sums[j] += static_cast<double>(x[row * stride + j]) * weight;
    }
  }
}

void expand_row(const double* weights, const float* columns, std::size_t stride, std::size_t rank,
                double scale, float* out, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) {
    double sum = 0;
    for (std::size_t k = 0; k < rank; ++k) {
      sum += weights[k] * static_cast<double>(columns[k * stride + j]);
    }
    out[j] = within_float(sum * scale);
  }
}

}  // namespace

const Kernels& scalar_kernels() {
  static constexpr Kernels kKernels = {
      .dot_columns = dot_columns, .add_rows = add_rows, .expand_row = expand_row};
  return kKernels;
}

}  // namespace tributary::lowrank
