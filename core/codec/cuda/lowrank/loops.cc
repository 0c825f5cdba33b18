#include "core/codec/cuda/lowrank/loops.h"

#include <algorithm>

#include "core/codec/cuda/lowrank/lowrank.h"
#include "core/codec/simd/ordered_sum.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

using lowrank::DoubleVector;
using lowrank::Factors;
using lowrank::Matrix;

class LowrankLoops final : public lowrank::DeviceLoops {
 public:
  explicit LowrankLoops(Workspaces& workspaces) : workspaces_(workspaces) {}

  Status multiply(const Factors& factors, std::span<const float> values,
                  std::span<const float> right, std::span<const double> scales,
                  std::span<float> left, std::span<double> squares) override {
    const std::size_t rows = rows_of(factors);
    TRIBUTARY_ASSIGN(Workspace space, workspaces_.take());
    TRIBUTARY_ASSIGN(const auto* const x, space.upload(values));
    TRIBUTARY_ASSIGN(const auto* const columns, space.upload(right));
    TRIBUTARY_ASSIGN(auto* const found, space.array<double>(rows));
    TRIBUTARY_ASSIGN(auto* const made, space.array<float>(rows * factors.rank));
    std::size_t row = 0;
    for (std::size_t i = 0; i < scales.size(); ++i) {
      const Matrix& matrix = factors.matrices.all[i];
      if (!matrix.factored) continue;
      TRIBUTARY_TRY(multiply_rows(space.queue(), on_device(factors, matrix, x),
                                  columns + matrix.right_at, scales[i], made + row * factors.rank,
                                  found + row));
      row += matrix.rows;
    }
    FloatVector products(rows * factors.rank);
    DoubleVector sums(rows);
    TRIBUTARY_TRY(space.download(made, std::span(products)));
    TRIBUTARY_TRY(space.download(found, std::span(sums)));
    TRIBUTARY_TRY(space.wait());
    row = 0;
    for (std::size_t i = 0; i < scales.size(); ++i) {
      const Matrix& matrix = factors.matrices.all[i];
      if (!matrix.factored) continue;
      std::ranges::copy(std::span(products).subspan(row * factors.rank, matrix.rows * factors.rank),
                        left.subspan(matrix.left_at + 1).begin());
      squares[i] = ordered_sum(std::span(sums).subspan(row, matrix.rows));
      row += matrix.rows;
    }
    return {};
  }

  Status multiply_transposed(const Factors& factors, std::span<const float> values,
                             std::span<const float> left, std::span<double> right) override {
    TRIBUTARY_ASSIGN(Workspace space, workspaces_.take());
    TRIBUTARY_ASSIGN(const auto* const x, space.upload(values));
    TRIBUTARY_ASSIGN(const auto* const weights, space.upload(left));
    TRIBUTARY_ASSIGN(auto* const made, space.array<double>(right.size()));
    for (const Matrix& matrix : factors.matrices.all) {
      if (!matrix.factored) continue;
      TRIBUTARY_TRY(multiply_columns(space.queue(), on_device(factors, matrix, x),
                                     weights + matrix.left_at + 1, made + matrix.right_at));
    }
    TRIBUTARY_TRY(space.download(made, right));
    return space.wait();
  }

  Status expand(const Factors& factors, std::span<const float> left, std::span<const float> right,
                std::span<const double> scales, std::span<float> values) override {
    TRIBUTARY_ASSIGN(Workspace space, workspaces_.take());
    TRIBUTARY_ASSIGN(const auto* const weights, space.upload(left));
    TRIBUTARY_ASSIGN(const auto* const columns, space.upload(right));
    TRIBUTARY_ASSIGN(auto* const x, space.array<float>(values.size()));
    for (std::size_t i = 0; i < scales.size(); ++i) {
      const Matrix& matrix = factors.matrices.all[i];
      if (!matrix.factored) continue;
      TRIBUTARY_TRY(expand_factors(space.queue(), on_device(factors, matrix, x),
                                   weights + matrix.left_at + 1, columns + matrix.right_at,
                                   scales[i], x + matrix.offset));
      TRIBUTARY_TRY(space.download(static_cast<const float*>(x + matrix.offset),
                                   values.subspan(matrix.offset, matrix.count)));
    }
    return space.wait();
  }

 private:
  static DeviceMatrix on_device(const Factors& factors, const Matrix& matrix, const float* x) {
    return {.values = x + matrix.offset,
            .count = static_cast<std::uint32_t>(matrix.count),
            .rows = static_cast<std::uint32_t>(matrix.rows),
            .cols = static_cast<std::uint32_t>(matrix.cols),
            .rank = static_cast<std::uint32_t>(factors.rank)};
  }
  static std::size_t rows_of(const Factors& factors) {
    std::size_t rows = 0;
    for (const Matrix& matrix : factors.matrices.all) rows += matrix.factored ? matrix.rows : 0;
    return rows;
  }

  Workspaces& workspaces_;
};

}  // namespace

std::unique_ptr<lowrank::DeviceLoops> make_lowrank_loops(Workspaces& workspaces) {
  return std::make_unique<LowrankLoops>(workspaces);
}

}  // namespace tributary::TRIBUTARY_DEVICE
