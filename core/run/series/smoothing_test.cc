// Tests of the debiased exponential mean.
#include "core/run/series/smoothing.h"

#include <gtest/gtest.h>

namespace tributary::dashboard {
namespace {

TEST(SmoothedMeanTest, EqualsEqualValuesFromTheStart) {
  SmoothedMean mean(0.99);
  for (int i = 0; i < 300; ++i) EXPECT_NEAR(mean.take(7), 7, 1e-9);
}

TEST(SmoothedMeanTest, WeighsTheFirstValuesAsIfTheyWereAll) {
  SmoothedMean mean(0.5);
  EXPECT_EQ(mean.take(1), 1);
  EXPECT_NEAR(mean.take(4), (0.25 * 1 + 0.5 * 4) / 0.75, 1e-12);
  EXPECT_NEAR(mean.take(0), (0.125 * 1 + 0.25 * 4) / 0.875, 1e-12);
}

TEST(SmoothedMeanTest, AGapIsAGapAndChangesNothing) {
  SmoothedMean with_gap(0.9);
  SmoothedMean without(0.9);
  with_gap.take(3);
  without.take(3);
  EXPECT_TRUE(std::isnan(with_gap.take(std::numeric_limits<double>::quiet_NaN())));
  EXPECT_TRUE(std::isnan(with_gap.take(std::numeric_limits<double>::infinity())));
  EXPECT_EQ(with_gap.take(5), without.take(5));
}

TEST(SmoothedMeanTest, WeightsThatAreNoneSmoothNothingAndTooMuchIsLimited) {
  SmoothedMean none(std::numeric_limits<double>::quiet_NaN());
  none.take(1);
  EXPECT_EQ(none.take(9), 9);
  SmoothedMean all(1);
  EXPECT_NEAR(all.take(2), 2, 1e-9);
  EXPECT_TRUE(std::isfinite(all.take(3)));
  all.reset();
  EXPECT_NEAR(all.take(8), 8, 1e-9);
}

}  // namespace
}  // namespace tributary::dashboard
