// Tests of the matrix products and the orthonormalization of PowerSGD, also for dependent and empty
// columns.
#include "core/codec/lowrank/algebra.h"

#include <gtest/gtest.h>

#include "core/codec/codec_testing.h"

namespace tributary::lowrank {
namespace {

using codec_testing::Pattern;
using codec_testing::update;

double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  }
  return sum;
}

TEST(Orthonormalise, ColumnsHaveLengthOneAndRightAngles) {
  constexpr std::size_t kRows = 100;
  constexpr std::size_t kRank = 32;
  // Squares of tiny and huge values would leave the range of float32.
  for (const Pattern pattern : {Pattern::normal, Pattern::tiny, Pattern::huge}) {
    FloatVector left = update(pattern, kRows * kRank, 0);
    orthonormalise(kRows, left);
    const auto column = [&](std::size_t k) { return std::span(left).subspan(k * kRows, kRows); };
    for (std::size_t a = 0; a < kRank; ++a) {
      for (std::size_t b = 0; b <= a; ++b) {
        ASSERT_NEAR(dot(column(a), column(b)), a == b ? 1.0 : 0.0, 1e-6) << a << ", " << b;
      }
    }
  }
}

// The second column differs from the first by one part in 10,000, so one pass of Gram-Schmidt would
// not be enough.
TEST(Orthonormalise, AlmostEqualColumnsStandAtRightAnglesToo) {
  FloatVector left = update(Pattern::normal, 400, 0);
  for (std::size_t i = 0; i < 200; ++i) left[200 + i] = left[i] * (1 + left[200 + i] * 1e-4f);
  orthonormalise(200, left);
  EXPECT_NEAR(dot(std::span(left).first(200), std::span(left).last(200)), 0.0, 1e-6);
  EXPECT_NEAR(dot(std::span(left).last(200), std::span(left).last(200)), 1.0, 1e-6);
}

TEST(Orthonormalise, DependentAndEmptyColumnsBecomeZero) {
  constexpr std::size_t kRows = 50;
  FloatVector left = update(Pattern::normal, 4 * kRows, 0);
  for (std::size_t i = 0; i < kRows; ++i) {
    left[kRows + i] = -3 * left[i];
    left[2 * kRows + i] = 0;
  }
  orthonormalise(kRows, left);
  for (std::size_t i = kRows; i < 3 * kRows; ++i) ASSERT_EQ(left[i], 0.0f);
  EXPECT_NEAR(dot(std::span(left).last(kRows), std::span(left).last(kRows)), 1.0, 1e-6);
}

TEST(Products, AreTheTextbooksWithShortLastRows) {
  constexpr std::size_t kRows = 13;
  constexpr std::size_t kCols = 521;  // more than one strip
  constexpr std::size_t kRank = 3;
  // The last row is missing and the one before is incomplete.
  const FloatVector values = update(Pattern::normal, kRows * kCols - 700, 0);
  const FloatVector right = update(Pattern::normal, kRank * kCols, 1);
  const FloatVector left = update(Pattern::normal, kRank * kRows, 2);
  const auto at = [&](std::size_t i, std::size_t j) {
    const std::size_t index = i * kCols + j;
    return index < values.size() ? static_cast<double>(values[index]) : 0.0;
  };
  const MatrixView matrix = {.values = values, .rows = kRows, .cols = kCols};

  FloatVector got_left(kRank * kRows);
  EXPECT_NEAR(multiply({}, matrix, right, 0.5, got_left), dot(values, values), 1e-6);
  DoubleVector got_right;
  multiply_transposed({}, matrix, left, got_right);
  ASSERT_EQ(got_right.size(), kRank * kCols);
  FloatVector got_values(values.size());
  expand({}, kRows, kCols, left, right, 2, got_values);

  for (std::size_t k = 0; k < kRank; ++k) {
    for (std::size_t i = 0; i < kRows; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < kCols; ++j) sum += at(i, j) * double{right[k * kCols + j]};
      ASSERT_NEAR(got_left[k * kRows + i], sum / 2, 1e-4);
    }
    for (std::size_t j = 0; j < kCols; ++j) {
      double sum = 0;
      for (std::size_t i = 0; i < kRows; ++i) sum += at(i, j) * double{left[k * kRows + i]};
      ASSERT_NEAR(got_right[k * kCols + j], sum, 1e-10);
    }
  }
  for (std::size_t index = 0; index < values.size(); ++index) {
    double sum = 0;
    for (std::size_t k = 0; k < kRank; ++k) {
      sum += double{left[k * kRows + index / kCols]} * double{right[k * kCols + index % kCols]};
    }
    ASSERT_NEAR(got_values[index], 2 * sum, 1e-5);
  }
}

TEST(Products, ExpandStaysWithinFloat32) {
  const FloatVector left = {FLT_MAX, -FLT_MAX};
  const FloatVector right = {FLT_MAX, 1};
  FloatVector values(4);
  expand({}, 2, 2, left, right, 0x1p100, values);
  EXPECT_EQ(values, (FloatVector{FLT_MAX, FLT_MAX, -FLT_MAX, -FLT_MAX}));
}

}  // namespace
}  // namespace tributary::lowrank
