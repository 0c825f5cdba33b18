// The SIMD version of kernels_scalar.cc. Highway compiles this file once per instruction set and
// selects the best at run time. The scalar version processes the values after the last whole
// vector.
#include <array>
#include <cfloat>

#include "core/codec/lowrank/kernels.h"
#include "core/codec/simd/ordered_sum.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/codec/lowrank/kernels_simd.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tributary::lowrank::HWY_NAMESPACE {

// Without vectors the specification itself serves.
#if HWY_TARGET == HWY_SCALAR

const Kernels* kernel_table() { return &scalar_kernels(); }

#else

namespace {

namespace hn = hwy::HWY_NAMESPACE;

// At most eight lanes, so that two vectors never exceed the sixteen lanes of a sum.
using Double = hn::CappedTag<double, kSumLanes / 2>;
using DoubleVec = hn::Vec<Double>;

DoubleVec load(const float* x) {
  const hn::Rebind<float, Double> df;
  return hn::PromoteTo(Double(), hn::LoadU(df, x));
}

// Adds the products of complete groups of sixteen to the lanes of two columns. It processes two
// vectors of lanes at a time. Narrow instruction sets therefore read the row several times, but it
// is in the first-level cache.
void add_products(const float* row, std::size_t whole, const float* a, const float* b,
                  SumLanes& lanes_a, SumLanes& lanes_b) {
  const Double dd;
  const std::size_t n = hn::Lanes(dd);
  for (std::size_t lane = 0; lane < kSumLanes; lane += 2 * n) {
    DoubleVec a0 = hn::Zero(dd);
    DoubleVec a1 = a0;
    DoubleVec b0 = a0;
    DoubleVec b1 = a0;
    for (std::size_t i = lane; i < whole; i += kSumLanes) {
      const DoubleVec x0 = load(row + i);
      const DoubleVec x1 = load(row + i + n);
      a0 = hn::MulAdd(x0, load(a + i), a0);
      a1 = hn::MulAdd(x1, load(a + i + n), a1);
      b0 = hn::MulAdd(x0, load(b + i), b0);
      b1 = hn::MulAdd(x1, load(b + i + n), b1);
    }
    hn::StoreU(a0, dd, lanes_a.data() + lane);
    hn::StoreU(a1, dd, lanes_a.data() + lane + n);
    hn::StoreU(b0, dd, lanes_b.data() + lane);
    hn::StoreU(b1, dd, lanes_b.data() + lane + n);
  }
}

// Adds the products after the last complete group, in the order of ordered_dot().
double with_tail(SumLanes& lanes, const float* row, const float* column, std::size_t whole,
                 std::size_t n) {
  for (std::size_t i = whole; i < n; ++i) {
    lanes[i - whole] += static_cast<double>(row[i]) * static_cast<double>(column[i]);
  }
  return add_in_pairs(lanes);
}

void dot_columns(const float* row, std::size_t n, const float* columns, std::size_t stride,
                 std::size_t rank, double* products) {
  const std::size_t whole = n / kSumLanes * kSumLanes;
  // Two columns share the loads of the row. With an odd rank the last column is paired with itself.
  for (std::size_t k = 0; k < rank; k += 2) {
    const float* const a = columns + k * stride;
    const float* const b = k + 1 < rank ? a + stride : a;
    SumLanes lanes_a;
    SumLanes lanes_b;
    add_products(row, whole, a, b, lanes_a, lanes_b);
    products[k] = with_tail(lanes_a, row, a, whole, n);
    if (b != a) products[k + 1] = with_tail(lanes_b, row, b, whole, n);
  }
}

// The additions per sum have the order of the scalar version: row by row.
void add_four_rows(const float* x, std::size_t stride, const float* weights, double* sums,
                   std::size_t whole) {
  const Double dd;
  const DoubleVec w0 = hn::Set(dd, static_cast<double>(weights[0]));
  const DoubleVec w1 = hn::Set(dd, static_cast<double>(weights[1]));
  const DoubleVec w2 = hn::Set(dd, static_cast<double>(weights[2]));
  const DoubleVec w3 = hn::Set(dd, static_cast<double>(weights[3]));
  for (std::size_t j = 0; j < whole; j += hn::Lanes(dd)) {
    DoubleVec sum = hn::LoadU(dd, sums + j);
    sum = hn::MulAdd(w0, load(x + j), sum);
    sum = hn::MulAdd(w1, load(x + stride + j), sum);
    sum = hn::MulAdd(w2, load(x + 2 * stride + j), sum);
    sum = hn::MulAdd(w3, load(x + 3 * stride + j), sum);
    hn::StoreU(sum, dd, sums + j);
  }
}

void add_rows(const float* x, std::size_t stride, std::size_t rows, const float* weights,
              double* sums, std::size_t n) {
  std::size_t done = 0;
  if (rows == kRowsTogether) {
    done = n / hn::Lanes(Double()) * hn::Lanes(Double());
    add_four_rows(x, stride, weights, sums, done);
  }
  scalar_kernels().add_rows(x + done, stride, rows, weights, sums + done, n - done);
}

void expand_row(const double* weights, const float* columns, std::size_t stride, std::size_t rank,
                double scale, float* out, std::size_t n) {
  const Double dd;
  const hn::Rebind<float, Double> df;
  const DoubleVec most = hn::Set(dd, double{FLT_MAX});
  const DoubleVec least = hn::Set(dd, -double{FLT_MAX});
  std::size_t j = 0;
  for (; j + hn::Lanes(dd) <= n; j += hn::Lanes(dd)) {
    DoubleVec sum = hn::Zero(dd);
    for (std::size_t k = 0; k < rank; ++k) {
      sum = hn::MulAdd(hn::Set(dd, weights[k]), load(columns + k * stride + j), sum);
    }
    sum = hn::Min(most, hn::Max(least, hn::Mul(sum, hn::Set(dd, scale))));
    hn::StoreU(hn::DemoteTo(df, sum), df, out + j);
  }
  scalar_kernels().expand_row(weights, columns + j, stride, rank, scale, out + j, n - j);
}

}  // namespace

const Kernels* kernel_table() {
  static constexpr Kernels kKernels = {
      .dot_columns = dot_columns, .add_rows = add_rows, .expand_row = expand_row};
  return &kKernels;
}

#endif

}  // namespace tributary::lowrank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tributary::lowrank {

HWY_EXPORT(kernel_table);
const Kernels& simd_kernels() { return *HWY_DYNAMIC_DISPATCH(kernel_table)(); }

}  // namespace tributary::lowrank
#endif
