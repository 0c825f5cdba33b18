#include "coordinator/chronicle.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tributary {
namespace {

struct ChronicleTest : ::testing::Test {
  ManualClock clock;
  Chronicle chronicle{clock};
};

TEST_F(ChronicleTest, HandsOverWhatHasComeOnce) {
  chronicle.event({.level = LogLevel::warning, .name = "frame_refused", .source = "a"});
  chronicle.metric({.name = "round_s", .value = 2, .job = 1, .round = 3});
  const TelemetryRows rows = chronicle.take();
  ASSERT_EQ(rows.events.size(), 1u);
  EXPECT_EQ(rows.events[0].note.source, "a");
  ASSERT_EQ(rows.metrics.size(), 1u);
  EXPECT_EQ(rows.metrics[0].reading.round, 3u);
  EXPECT_EQ(chronicle.take().size(), 0u);
}

TEST_F(ChronicleTest, TheShortestRoundTripOfAWhileIsTwiceTheWay) {
  for (const double seconds : {0.3, 0.1, 0.2}) chronicle.round_trip("a", seconds);
  chronicle.round_trip("b", 0.5);
  EXPECT_EQ(chronicle.take().size(), 0u) << "too early";
  clock.advance(Chronicle::kSampleEvery);
  const TelemetryRows rows = chronicle.take();
  ASSERT_EQ(rows.link_samples.size(), 2u);
  EXPECT_EQ(rows.link_samples[0].to, "a");
  EXPECT_EQ(rows.link_samples[0].from, "");
  EXPECT_EQ(rows.link_samples[0].alpha_s, 0.05);
  EXPECT_TRUE(std::isnan(rows.link_samples[0].beta_s_per_byte)) << "nobody knows";
  EXPECT_EQ(rows.link_samples[1].alpha_s, 0.25);
  clock.advance(Chronicle::kSampleEvery);
  EXPECT_EQ(chronicle.take().size(), 0u) << "nothing was heard since";
  chronicle.round_trip("a", 0.5);
  EXPECT_EQ(chronicle.take_all().link_samples.size(), 1u) << "early, at the end";
}

TEST_F(ChronicleTest, HowFastALineIsIsKeptOnceInASecond) {
  chronicle.uplink("a", 1e-6);
  chronicle.uplink("a", 2e-6);
  chronicle.uplink("b", 3e-6);
  clock.advance(Chronicle::kUplinkEvery);
  chronicle.uplink("a", 4e-6);
  const TelemetryRows rows = chronicle.take();
  ASSERT_EQ(rows.link_samples.size(), 3u);
  EXPECT_EQ(rows.link_samples[0].from, "a");
  EXPECT_EQ(rows.link_samples[0].to, "");
  EXPECT_EQ(rows.link_samples[0].beta_s_per_byte, 1e-6);
  EXPECT_TRUE(std::isnan(rows.link_samples[0].alpha_s));
  EXPECT_EQ(rows.link_samples[1].from, "b");
  EXPECT_EQ(rows.link_samples[2].beta_s_per_byte, 4e-6);
}

TEST_F(ChronicleTest, HoldsNoMoreThanTheJournalTakesAtOnce) {
  for (std::size_t i = 0; i < 2 * kTelemetryRowsMax; ++i) {
    chronicle.event({.level = LogLevel::info, .name = "agent_gone"});
    chronicle.round_trip("agent " + std::to_string(i), 1);
  }
  clock.advance(Chronicle::kSampleEvery);
  EXPECT_EQ(chronicle.take().size(), kTelemetryRowsMax);
  // The events and agents that came too late, and the samples that found the rows full of events.
  EXPECT_EQ(chronicle.dropped(), 3 * kTelemetryRowsMax);
  EXPECT_EQ(chronicle.take().size(), 0u);
}

}  // namespace
}  // namespace tributary
