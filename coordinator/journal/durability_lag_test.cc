#include "coordinator/journal/durability_lag.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tributary {
namespace {

using std::chrono::seconds;
using Report = LagReport::Report;

TEST(DurabilityLag, CountsFromTheLastSyncWhileRoundsAreNotDurable) {
  DurabilityLag lag(seconds(100));
  EXPECT_EQ(lag.lag(seconds(150)), seconds(0)) << "nothing was stored";
  lag.stored(seconds(120), false);
  EXPECT_EQ(lag.lag(seconds(150)), seconds(50));
  const auto before = lag.before_sync(seconds(130));
  lag.stored(seconds(140), false);
  lag.synced(before);
  EXPECT_EQ(lag.lag(seconds(150)), seconds(20)) << "the sync began before the last round";
  lag.synced(lag.before_sync(seconds(150)));
  EXPECT_EQ(lag.lag(seconds(200)), seconds(0));
}

// A sync of the journal says nothing about rounds that are beside it.
TEST(DurabilityLag, RoundsBesideTheJournalAreDurableOnceTheyWereMoved) {
  DurabilityLag lag(seconds(100));
  lag.stored(seconds(110), true);
  lag.stored(seconds(120), true);
  lag.synced(lag.before_sync(seconds(150)));
  EXPECT_EQ(lag.lag(seconds(160)), seconds(50));
  lag.moved();
  lag.synced(lag.before_sync(seconds(170)));
  EXPECT_EQ(lag.lag(seconds(180)), seconds(0));
}

TEST(LagReport, ReportsALateLagAndAgainWhenItHasDoubled) {
  LagReport report;
  EXPECT_EQ(report.look(seconds(0), seconds(60)), Report::none);
  EXPECT_EQ(report.look(seconds(1), seconds(61)), Report::behind);
  EXPECT_EQ(report.look(seconds(2), seconds(62)), Report::none);
  EXPECT_EQ(report.look(seconds(70), seconds(121)), Report::none);
  EXPECT_EQ(report.look(seconds(71), seconds(122)), Report::behind);
}

// On a slow disk the lag falls and rises with each copy of the log.
TEST(LagReport, HasCaughtUpWhenItWasInTimeForAWhile) {
  LagReport report;
  EXPECT_EQ(report.look(seconds(0), seconds(100)), Report::behind);
  EXPECT_EQ(report.look(seconds(10), seconds(20)), Report::none);
  EXPECT_EQ(report.look(seconds(20), seconds(150)), Report::none);
  EXPECT_EQ(report.look(seconds(30), seconds(20)), Report::none);
  EXPECT_EQ(report.look(seconds(80), seconds(20)), Report::none);
  EXPECT_EQ(report.look(seconds(90), seconds(20)), Report::caught_up);
  EXPECT_EQ(report.longest(), seconds(150));
  EXPECT_EQ(report.look(seconds(200), seconds(20)), Report::none);
  EXPECT_EQ(report.look(seconds(300), seconds(70)), Report::behind);
  EXPECT_EQ(report.longest(), seconds(70));
}

TEST(LagReport, SaysWhatAPowerFailureCosts) {
  EXPECT_THAT(behind_text(seconds(123)), testing::HasSubstr("the last 123 s are not durable"));
  EXPECT_THAT(caught_up_text(seconds(150)), testing::HasSubstr("at most 150 s"));
}

}  // namespace
}  // namespace tributary
