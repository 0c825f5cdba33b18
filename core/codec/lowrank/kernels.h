// The loops of this family, once as the plain specification and once in SIMD (Highway, at the best
// width that the machine has). Both give the same bits: sums have one order, and since a product of
// two float32 is exact in double, it does not matter whether an addition is fused with it.
//
// Assumptions: pointers are aligned to their type; input and output do not overlap, except that
// sums are both.
#pragma once

#include <cstddef>

#include "core/codec/codec.h"

namespace tributary::lowrank {

constexpr std::size_t kRankMax = 32;

// Rows that are added to a strip of sums while it is in the first-level cache.
constexpr std::size_t kRowsTogether = 4;

struct Kernels {
  // products[k] = row · column k, in sixteen lanes (core/codec/simd/ordered_sum.h). Column k begins
  // at columns + k * stride.
  void (*dot_columns)(const float* row, std::size_t n, const float* columns, std::size_t stride,
                      std::size_t rank, double* products);

  // sums[j] += weights[0] * x[j], then weights[1] * x[j + stride], … for `rows` rows,
  // kRowsTogether at most.
  void (*add_rows)(const float* x, std::size_t stride, std::size_t rows, const float* weights,
                   double* sums, std::size_t n);

  // out[j] = scale * (weights[0] * column 0 [j] + …), in this order from zero, held within the
  // range of float32 and rounded once.
  void (*expand_row)(const double* weights, const float* columns, std::size_t stride,
                     std::size_t rank, double scale, float* out, std::size_t n);
};

const Kernels& scalar_kernels();
const Kernels& simd_kernels();

inline const Kernels& kernels(Backend backend) {
  return backend == Backend::scalar ? scalar_kernels() : simd_kernels();
}

}  // namespace tributary::lowrank
