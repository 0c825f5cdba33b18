// Tests of the ticks of axes: round numbers, distinct labels, logarithms and wall time.
#include "core/run/units/axis_ticks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace tributary {
namespace {

using testing::ElementsAre;

TEST(AxisTicks, LinearOnesAreRoundNumbersOfTheUnit) {
  const AxisTicks ticks = axis_ticks(Unit::bytes, {0, 3e6}, false, 6);
  EXPECT_THAT(ticks.labels, ElementsAre("0.0", "0.5", "1.0", "1.5", "2.0", "2.5", "3.0"));
  EXPECT_EQ(ticks.unit, "MB");
  EXPECT_EQ(ticks.at[2], 1e6);
}

TEST(AxisTicks, SmallTimesAreMilliseconds) {
  const AxisTicks ticks = axis_ticks(Unit::seconds, {0, 0.04}, false, 4);
  EXPECT_THAT(ticks.labels, ElementsAre("0", "10", "20", "30", "40"));
  EXPECT_EQ(ticks.unit, "ms");
}

TEST(AxisTicks, CountsHaveNoHalves) {
  const AxisTicks ticks = axis_ticks(Unit::count, {0, 3}, false, 10);
  EXPECT_THAT(ticks.labels, ElementsAre("0", "1", "2", "3"));
}

// Labels have enough decimals to differ, even if the values are large.
TEST(AxisTicks, NeighboursAreDistinguishedFarFromZero) {
  const AxisTicks ticks = axis_ticks(Unit::one, {1000.001, 1000.004}, false, 3);
  EXPECT_THAT(ticks.labels, ElementsAre("1000.001", "1000.002", "1000.003", "1000.004"));
}

TEST(AxisTicks, ALogAxisHasPowersWithTheirOwnUnits) {
  const AxisTicks ticks = axis_ticks(Unit::seconds, {1e-4, 10}, true, 6);
  EXPECT_THAT(ticks.labels, ElementsAre("100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s"));
  EXPECT_TRUE(ticks.unit.empty());
  EXPECT_FALSE(ticks.minor.empty());
}

TEST(AxisTicks, ALogAxisOfBytesHasPowersOfTen) {
  const AxisTicks ticks = axis_ticks(Unit::bytes, {1e3, 1e6}, true, 3);
  EXPECT_THAT(ticks.labels, ElementsAre("1 kB", "10 kB", "100 kB", "1 MB"));
}

TEST(AxisTicks, ALogAxisOfLessThanADecadeHasRoundNumbers) {
  const AxisTicks ticks = axis_ticks(Unit::one, {2, 5}, true, 3);
  EXPECT_THAT(ticks.at, ElementsAre(2, 3, 4, 5));
}

TEST(AxisTicks, InALowPictureALogAxisHasTwoLabelsThatDoNotStandInOneAnother) {
  const AxisTicks low = axis_ticks(Unit::seconds, {0.0011, 0.039}, true, 2);
  EXPECT_THAT(low.labels, ElementsAre("10 ms", "2 ms"));
  EXPECT_EQ(low.minor.size(), 9u) << "3 to 9 milliseconds, and 20 and 30";
  const AxisTicks high = axis_ticks(Unit::seconds, {0.0011, 0.039}, true, 6);
  EXPECT_THAT(high.labels, ElementsAre("10 ms", "2 ms", "5 ms", "20 ms"));
}

TEST(AxisTicks, WallTimeHasRoundMomentsAndShowsTheDayOnce) {
  // From 2026-11-22 23:50 to 2026-11-23 00:10, UTC.
  const double begin = 1795391400;
  const AxisTicks ticks = axis_ticks(Unit::wall_time, {begin, begin + 1200}, false, 4);
  EXPECT_THAT(ticks.labels,
              ElementsAre("23:50\nNov 22", "23:55", "00:00\nNov 23", "00:05", "00:10"));
}

// The offset from UTC shifts the labels, not the positions.
TEST(AxisTicks, WallTimeIsThatOfThePlace) {
  const double begin = 1795391400;
  const AxisTicks ticks = axis_ticks(Unit::wall_time, {begin, begin + 1200}, false, 2, 1800);
  EXPECT_THAT(ticks.labels, ElementsAre("00:20\nNov 23", "00:30", "00:40"));
}

TEST(AxisTicks, ThereAreNoneWithoutARange) {
  EXPECT_TRUE(axis_ticks(Unit::one, {1, 1}, false, 5).at.empty());
  EXPECT_TRUE(
      axis_ticks(Unit::one, {0, std::numeric_limits<double>::infinity()}, false, 5).at.empty());
  EXPECT_TRUE(axis_ticks(Unit::one, {std::nan(""), 1}, true, 5).at.empty());
}

TEST(AxisTicks, EveryOneLiesWithinAndHasALabel) {
  for (const Unit unit : {Unit::one, Unit::count, Unit::bytes, Unit::seconds, Unit::wall_time}) {
    for (const double low : {1e-9, 0.5, 3.0, 1e6, 1.7e9}) {
      for (const double width : {1e-3, 1.0, 1e4, 1e9}) {
        const Extent range = {low, low + width};
        for (const bool log : {false, true}) {
          const AxisTicks ticks = axis_ticks(unit, range, log, 8);
          ASSERT_EQ(ticks.at.size(), ticks.labels.size());
          EXPECT_LE(ticks.at.size(), 40U);
          for (const double at : ticks.at) {
            EXPECT_GE(at, range.low - width * 1e-3);
            EXPECT_LE(at, range.high + width * 1e-3);
          }
        }
      }
    }
  }
}

TEST(AxisTicks, MillisecondsAreDistinguished) {
  const AxisTicks ticks = axis_ticks(Unit::wall_time, {1795391400, 1795391400.004}, false, 2);
  EXPECT_THAT(ticks.labels, ElementsAre("23:50:00.000\nNov 22", "23:50:00.002", "23:50:00.004"));
}

// --- ranges that end at round numbers ---

TEST(RoundRange, EndsAtRoundNumbersAroundTheValues) {
  const Extent range = round_range(Unit::one, {0.13, 0.97}, false, 5);
  EXPECT_EQ(range.low, 0);
  EXPECT_DOUBLE_EQ(range.high, 1);
  EXPECT_THAT(axis_ticks(Unit::one, range, false, 5).labels,
              ElementsAre("0.0", "0.2", "0.4", "0.6", "0.8", "1.0"));
}

TEST(RoundRange, HoldsValuesOfAnySizeAndBothEndsAreTicks) {
  for (double size = 1e-12; size < 1e15; size *= 7.3) {
    for (const double low : {-3.7 * size, 0.0, 0.01 * size, 0.98 * size}) {
      for (const Unit unit : {Unit::one, Unit::bytes, Unit::seconds}) {
        const Extent range = round_range(unit, {low, size}, false, 5);
        EXPECT_LE(range.low, low + 1e-9 * size);
        EXPECT_GE(range.high, size * (1 - 1e-9));
        const AxisTicks ticks = axis_ticks(unit, range, false, 5);
        ASSERT_GE(ticks.at.size(), 2u) << low << " to " << size;
        EXPECT_LE(ticks.at.size(), 9u) << low << " to " << size;
        EXPECT_NEAR(ticks.at.front(), range.low, 1e-6 * size);
        EXPECT_NEAR(ticks.at.back(), range.high, 1e-6 * size);
      }
    }
  }
}

TEST(RoundRange, ASingleValueGetsAMarginAndNoValueIsStillARange) {
  const Extent one = round_range(Unit::one, {5, 5}, false, 5);
  EXPECT_LT(one.low, 5);
  EXPECT_GT(one.high, 5);
  EXPECT_EQ(round_range(Unit::one, {0, 0}, false, 5).low, 0) << "nothing is below 0 here";
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(round_range(Unit::one, {nan, nan}, false, 5).high, 1);
  EXPECT_EQ(round_range(Unit::one, {2, 1}, false, 5).high, 1);
  const double huge = std::numeric_limits<double>::max() / 2;
  EXPECT_LE(
      axis_ticks(Unit::one, round_range(Unit::one, {huge, huge}, false, 5), false, 5).at.size(),
      12u);
}

TEST(RoundRange, HasPowersOfTenOnALogAxis) {
  const Extent range = round_range(Unit::one, {1234, 3e6}, true, 5);
  EXPECT_DOUBLE_EQ(range.low, 1e3);
  EXPECT_DOUBLE_EQ(range.high, 1e7);
  EXPECT_EQ(round_range(Unit::one, {0, 0}, true, 5).low, 1) << "nothing to show has an axis too";
}

}  // namespace
}  // namespace tributary
