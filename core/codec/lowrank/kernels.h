// The loops of PowerSGD, in a scalar version (the specification) and a SIMD version (Highway, at
// the best width of the machine). Both produce the same bits: sums have one order, and the product
// of two float32 is exact in double, so a fused multiply-add gives the same result.
//
// Assumptions: pointers are aligned to their element type. Inputs and outputs do not overlap,
// except that `sums` is both. The functions have no state; threads may call them for different
// memory.
#pragma once

#include <cstddef>

#include "core/codec/codec.h"

namespace tributary::lowrank {

// The largest rank of the codec's parameter; it bounds arrays on the stack.
constexpr std::size_t kRankMax = 32;

// Number of rows that are added to a strip of sums in one pass while the strip is in the
// first-level cache.
constexpr std::size_t kRowsTogether = 4;

struct Kernels {
  // Sets products[k] = row · column k, added in sixteen lanes (core/codec/simd/ordered_sum.h).
  // Column k begins at columns + k * stride.
  void (*dot_columns)(const float* row, std::size_t n, const float* columns, std::size_t stride,
                      std::size_t rank, double* products);

  // Sets sums[j] += weights[0] * x[j], then weights[1] * x[j + stride], and so on for `rows` rows,
  // at most kRowsTogether.
  void (*add_rows)(const float* x, std::size_t stride, std::size_t rows, const float* weights,
                   double* sums, std::size_t n);

  // Sets out[j] = scale * (weights[0] * column 0 [j] + …), added in this order from zero, limited
  // to the range of float32 and rounded once.
  void (*expand_row)(const double* weights, const float* columns, std::size_t stride,
                     std::size_t rank, double scale, float* out, std::size_t n);
};

const Kernels& scalar_kernels();
const Kernels& simd_kernels();

inline const Kernels& kernels(Backend backend) {
  return backend == Backend::scalar ? scalar_kernels() : simd_kernels();
}

}  // namespace tributary::lowrank
