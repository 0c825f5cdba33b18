// Tests of norms that must not overflow.
#include "core/update/norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tributary {
namespace {

TEST(Norm, IsTheRootOfTheSumOfSquares) {
  EXPECT_EQ(norm_of({}), 0);
  const std::vector<float> two = {3, -4};
  EXPECT_EQ(norm_of(two), 5);
  // Lengths next to the number of independent sums.
  for (const std::size_t count : {7u, 8u, 9u, 1000u}) {
    EXPECT_DOUBLE_EQ(norm_of(std::vector<float>(count, 2.0f)),
                     2 * std::sqrt(static_cast<double>(count)));
  }
}

// The result is the same on every machine, whatever the compiler makes of the loop.
TEST(Norm, IsAddedInAFixedOrder) {
  std::vector<float> values(1003);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i * i % 997) * 0.1f + 1e-3f;
  }
  std::vector<double> squares(8);
  for (std::size_t i = 0; i < values.size(); ++i) {
    squares[i < 1000 ? i % 8 : 0] += static_cast<double>(values[i]) * values[i];
  }
  double sum = 0;
  for (const double square : squares) sum += square;
  EXPECT_EQ(norm_of(values), std::sqrt(sum));
}

TEST(Norm, DoesNotOverflowWhereSquaresOfFloatsWould) {
  EXPECT_NEAR(norm_of(std::vector<float>(2, 1e30f)) / (std::sqrt(2.0) * 1e30), 1, 1e-6);
}

TEST(Norm, ValuesAreScaledToABound) {
  std::vector<float> values = {3, -4};
  scale_to_norm(values, 5, 1);
  EXPECT_NEAR(norm_of(values), 1, 1e-6);
  EXPECT_LT(values[1], 0);
}

}  // namespace
}  // namespace tributary
