#include "dashboard/plot/data/ticks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace tributary::dashboard {
namespace {

using testing::ElementsAre;

std::vector<std::string> labels(const Ticks& ticks) {
  std::vector<std::string> texts;
  for (const QString& label : ticks.labels) texts.push_back(label.toStdString());
  return texts;
}

TEST(PlotTicks, LinearOnesAreRoundNumbersOfTheUnit) {
  const Ticks ticks = ticks_for(Unit::bytes, {0, 3 * 1048576.0}, false, 6);
  EXPECT_THAT(labels(ticks), ElementsAre("0.0", "0.5", "1.0", "1.5", "2.0", "2.5", "3.0"));
  EXPECT_EQ(axis_label("Bytes up", ticks).toStdString(), "Bytes up (MiB)");
  EXPECT_EQ(ticks.at[2], 1048576);
}

TEST(PlotTicks, SmallTimesAreMilliseconds) {
  const Ticks ticks = ticks_for(Unit::seconds, {0, 0.04}, false, 4);
  EXPECT_THAT(labels(ticks), ElementsAre("0", "10", "20", "30", "40"));
  EXPECT_EQ(ticks.unit.toStdString(), "ms");
}

TEST(PlotTicks, CountsHaveNoHalves) {
  const Ticks ticks = ticks_for(Unit::count, {0, 3}, false, 10);
  EXPECT_THAT(labels(ticks), ElementsAre("0", "1", "2", "3"));
}

TEST(PlotTicks, NeighboursAreToldApartFarFromZero) {
  const Ticks ticks = ticks_for(Unit::one, {1000.001, 1000.004}, false, 3);
  EXPECT_THAT(labels(ticks), ElementsAre("1000.001", "1000.002", "1000.003", "1000.004"));
}

TEST(PlotTicks, ALogAxisHasPowersWithTheirOwnUnits) {
  const Ticks ticks = ticks_for(Unit::seconds, {1e-4, 10}, true, 6);
  EXPECT_THAT(labels(ticks), ElementsAre("100 µs", "1.00 ms", "10.0 ms", "100 ms", "1 s", "10 s"));
  EXPECT_TRUE(ticks.unit.isEmpty());
  EXPECT_FALSE(ticks.minor.empty());
}

TEST(PlotTicks, ALogAxisOfBytesGoesByPowersOfTwo) {
  const Ticks ticks = ticks_for(Unit::bytes, {1024, 1048576}, true, 2);
  EXPECT_THAT(ticks.at, ElementsAre(1024, 32768, 1048576));
}

TEST(PlotTicks, ALogAxisOfLessThanADecadeHasRoundNumbers) {
  const Ticks ticks = ticks_for(Unit::one, {2, 5}, true, 3);
  EXPECT_THAT(ticks.at, ElementsAre(2, 3, 4, 5));
}

TEST(PlotTicks, InALowPictureALogAxisHasTwoLabelsThatDoNotStandInOneAnother) {
  const Ticks low = ticks_for(Unit::seconds, {0.0011, 0.039}, true, 2);
  EXPECT_THAT(labels(low), ElementsAre("10.0 ms", "2.00 ms"));
  EXPECT_EQ(low.minor.size(), 9u) << "3 to 9 milliseconds, and 20 and 30";
  const Ticks high = ticks_for(Unit::seconds, {0.0011, 0.039}, true, 6);
  EXPECT_THAT(labels(high), ElementsAre("10.0 ms", "2.00 ms", "5.00 ms", "20.0 ms"));
}

TEST(PlotTicks, WallTimeHasRoundMomentsAndSaysTheDayOnce) {
  // 2026-11-22 23:50 to 2026-11-23 00:10, UTC.
  const double begin = 1795391400;
  const Ticks ticks = ticks_for(Unit::wall_time, {begin, begin + 1200}, false, 4);
  EXPECT_THAT(labels(ticks),
              ElementsAre("23:50\nNov 22", "23:55", "00:00\nNov 23", "00:05", "00:10"));
}

TEST(PlotTicks, WallTimeIsThatOfThePlace) {
  const double begin = 1795391400;
  const Ticks ticks = ticks_for(Unit::wall_time, {begin, begin + 1200}, false, 2, 1800);
  EXPECT_THAT(labels(ticks), ElementsAre("00:20\nNov 23", "00:30", "00:40"));
}

TEST(PlotTicks, ThereAreNoneWithoutARange) {
  EXPECT_TRUE(ticks_for(Unit::one, {1, 1}, false, 5).at.empty());
  EXPECT_TRUE(
      ticks_for(Unit::one, {0, std::numeric_limits<double>::infinity()}, false, 5).at.empty());
  EXPECT_TRUE(ticks_for(Unit::one, {std::nan(""), 1}, true, 5).at.empty());
}

TEST(PlotTicks, EveryOneLiesWithinAndHasALabel) {
  for (const Unit unit : {Unit::one, Unit::count, Unit::bytes, Unit::seconds, Unit::wall_time}) {
    for (const double low : {1e-9, 0.5, 3.0, 1e6, 1.7e9}) {
      for (const double width : {1e-3, 1.0, 1e4, 1e9}) {
        const Extent range = {low, low + width};
        for (const bool log : {false, true}) {
          const Ticks ticks = ticks_for(unit, range, log, 8);
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

}  // namespace
}  // namespace tributary::dashboard
