#include "cli/report/svg/ticks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tributary::report {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;

TEST(LinearTicks, StandAtRoundNumbersAroundTheValues) {
  const Ticks ticks = linear_ticks(0.13, 0.97, 5);
  EXPECT_THAT(ticks.at, Pointwise(testing::DoubleNear(1e-12), {0.0, 0.2, 0.4, 0.6, 0.8, 1.0}));
  EXPECT_EQ(ticks.first, ticks.at.front());
  EXPECT_EQ(ticks.last, ticks.at.back());
  EXPECT_EQ(ticks.decimals, 1);
}

TEST(LinearTicks, HoldAllValuesWhateverTheirSize) {
  for (double size = 1e-12; size < 1e15; size *= 7.3) {
    for (const double low : {-3.7 * size, 0.0, 0.01 * size, 0.98 * size}) {
      const Ticks ticks = linear_ticks(low, size, 5);
      EXPECT_LE(ticks.first, low + 1e-9 * size);
      EXPECT_GE(ticks.last, size * (1 - 1e-9));
      EXPECT_GE(ticks.at.size(), 3u) << low << " to " << size;
      EXPECT_LE(ticks.at.size(), 9u) << low << " to " << size;
    }
  }
}

TEST(LinearTicks, ASingleValueGetsRoomAndNothingIsAnAxisAllTheSame) {
  const Ticks one = linear_ticks(5, 5, 5);
  EXPECT_LT(one.first, 5);
  EXPECT_GT(one.last, 5);
  EXPECT_EQ(linear_ticks(0, 0, 5).first, 0) << "what cannot be negative has no negative axis";
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(linear_ticks(nan, nan, 5).last, 1);
  EXPECT_EQ(linear_ticks(2, 1, 5).last, 1);
  const double huge = std::numeric_limits<double>::max();
  EXPECT_LE(linear_ticks(huge / 2, huge / 2, 5).at.size(), 12u);
}

TEST(InnerTicks, LeaveTheAxisAsLongAsItsValues) {
  const Ticks ticks = inner_ticks(1, 47, 9);
  EXPECT_EQ(ticks.first, 1);
  EXPECT_EQ(ticks.last, 47);
  EXPECT_THAT(ticks.at, ElementsAre(10, 20, 30, 40));
}

TEST(LogTicks, ArePowersOfTen) {
  EXPECT_THAT(log_ticks(1234, 3e6).at, Pointwise(DoubleNear(1e-6), {1e3, 1e4, 1e5, 1e6, 1e7}));
  EXPECT_THAT(log_ticks(3, 40).at,
              Pointwise(DoubleNear(1e-9), {1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0}));
  EXPECT_LE(log_ticks(1e-30, 1e30).at.size(), 10u);
  EXPECT_EQ(log_ticks(0, 0).first, 1) << "nothing to show has an axis too";
}

}  // namespace
}  // namespace tributary::report
