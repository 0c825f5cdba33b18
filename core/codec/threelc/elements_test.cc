// Tests of single values of 3LC against exact arithmetic, also among denormals.
#include "core/codec/threelc/elements.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tributary::threelc {
namespace {

// round(x / M) with halves away from zero. The arithmetic is exact for these values: 2|x| >= M.
int digit_of_paper(float x, float unit) {
  if (unit == 0 || 2 * std::abs(static_cast<double>(x)) < static_cast<double>(unit)) return 0;
  return x > 0 ? 1 : -1;
}

TEST(Digits, HalvesGoAwayFromZero) {
  const float level = nearest_level(3.0f);
  EXPECT_EQ(digit_of(1.5f, level), 1);
  EXPECT_EQ(digit_of(std::nextafterf(1.5f, 0.0f), level), 0);
  EXPECT_EQ(digit_of(-1.5f, level), -1);
  EXPECT_EQ(digit_of(std::nextafterf(-1.5f, 0.0f), level), 0);
}

// All pairs of numbers around powers of two and of the smallest denormals.
TEST(Digits, AsExactArithmeticDecidesAlsoAmongDenormals) {
  std::vector<float> numbers;
  for (std::uint32_t bits = 0; bits < 40; ++bits) numbers.push_back(std::bit_cast<float>(bits));
  for (const std::uint32_t around : {0x00400000u, 0x00800000u, 0x01000000u, 0x01800000u,
                                     0x3f800000u, 0x40000000u, 0x7f000000u}) {
    for (std::uint32_t bits = around - 3; bits < around + 4; ++bits) {
      numbers.push_back(std::bit_cast<float>(bits));
    }
  }
  numbers.push_back(FLT_MAX);
  for (const float unit : numbers) {
    const float level = nearest_level(unit);
    for (const float x : numbers) {
      EXPECT_EQ(digit_of(x, level), digit_of_paper(x, unit)) << x << " by " << unit;
      EXPECT_EQ(digit_of(-x, level), digit_of_paper(-x, unit)) << -x << " by " << unit;
    }
  }
}

TEST(Digits, TheUnitSaturates) {
  EXPECT_EQ(unit_of(2.0f, 1.75f), 3.5f);
  EXPECT_EQ(unit_of(FLT_MAX, 1.0f), FLT_MAX);
  EXPECT_EQ(unit_of(FLT_MAX, 1.75f), FLT_MAX);
  EXPECT_EQ(digit_of(FLT_MAX, nearest_level(FLT_MAX)), 1);
}

// The probability of a digit is 0 at zero and 1 at M and beyond, for every draw.
TEST(Digits, RandomOnesAreCertainAtBothEnds) {
  const float unit = 1.7f;
  for (const std::uint32_t draw : {0u, 255u, 256u, 0x80000000u, ~0u}) {
    const float level = random_level(unit, draw);
    EXPECT_EQ(digit_of(0.0f, level), 0);
    EXPECT_EQ(digit_of(-0.0f, level), 0);
    EXPECT_EQ(digit_of(unit, level), 1);
    EXPECT_EQ(digit_of(-unit, level), -1);
    EXPECT_EQ(digit_of(3 * unit, level), 1);
  }
}

// A device decides by the units at both ends of an interval of sums.
TEST(Units, DoNotDecreaseIfTheSumOfSquaresGrows) {
  for (const double around : {0x1p-280, 1e-3, 1.0, 6.25e10, 0x1p250}) {
    double squares = around;
    float before = 0;
    for (int step = 0; step < 2000; ++step) {
      const float unit = clipped_unit(0x1p127f, squares, 1001, 1.75f, 2.5);
      ASSERT_GE(unit, before) << squares;
      before = unit;
      squares = step % 2 == 0 ? std::nextafter(squares, 1e300) : squares * (1 + 0x1p-26);
    }
    EXPECT_LT(clipped_unit(FLT_MAX, around / 4, 1001, 1.75f, 2.5), before);
  }
  EXPECT_EQ(clipped_unit(3.0f, 1001 * 16.0, 1001, 1.0f, 2.5), 3.0f);
  EXPECT_EQ(clipped_unit(11.0f, 1001 * 16.0, 1001, 1.0f, 2.5), 10.0f);
  EXPECT_EQ(clipped_unit(0.0f, 0.0, 1001, 1.0f, 2.5), 0.0f);
}

// A digit of 0 must keep the sign of a zero in the sum.
TEST(Digits, TakingAwayNothingChangesNothing) {
  EXPECT_FALSE(std::signbit(0.0f - negated_value(0, 2.0f)));
  EXPECT_TRUE(std::signbit(-0.0f - negated_value(0, 2.0f)));
  EXPECT_EQ(0.0f - negated_value(1, 2.0f), 2.0f);
  EXPECT_EQ(0.0f - negated_value(-1, 2.0f), -2.0f);
}

}  // namespace
}  // namespace tributary::threelc
