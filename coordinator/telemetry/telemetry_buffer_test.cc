// Tests of the buffer of readings that wait to be stored.
#include "coordinator/telemetry/telemetry_buffer.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

struct TelemetryBufferTest : ::testing::Test {
  ManualClock clock;
  TelemetryBuffer telemetry{clock};
};

TEST_F(TelemetryBufferTest, HandsOverEachReadingOnce) {
  telemetry.event({.level = LogLevel::warning, .name = "frame_refused", .source = "a"});
  telemetry.metric({.kind = ReadingKind::round_s, .value = 2, .job = 1, .round = 3});
  const TelemetryRows rows = telemetry.take();
  ASSERT_EQ(rows.events.size(), 1u);
  EXPECT_EQ(rows.events[0].note.source, "a");
  ASSERT_EQ(rows.metrics.size(), 1u);
  EXPECT_EQ(rows.metrics[0].reading.name, "round_s");
  EXPECT_EQ(rows.metrics[0].reading.round, 3u);
  EXPECT_EQ(telemetry.take().size(), 0u);
}

TEST_F(TelemetryBufferTest, ALinkSampleHasTheTimeOfItsReport) {
  clock.advance(std::chrono::seconds(5));
  telemetry.link(
      {.from = "a", .to = {}, .alpha_s = 0.01, .beta_s_per_byte = 1e-6, .confidence = 0.5});
  clock.advance(std::chrono::seconds(5));
  telemetry.link({.from = {}, .to = "b"});
  const TelemetryRows rows = telemetry.take();
  ASSERT_EQ(rows.link_samples.size(), 2u);
  EXPECT_EQ(rows.link_samples[0].from, "a");
  EXPECT_EQ(rows.link_samples[0].confidence, 0.5);
  EXPECT_EQ(rows.link_samples[1].to, "b");
  EXPECT_EQ(rows.link_samples[1].at_wall_ns - rows.link_samples[0].at_wall_ns, 5'000'000'000);
}

TEST_F(TelemetryBufferTest, HoldsNoMoreThanTheJournalTakesAtOnce) {
  for (std::size_t i = 0; i < 2 * kTelemetryRowsMax; ++i) {
    telemetry.event({.level = LogLevel::info, .name = "agent_gone"});
    telemetry.link({.from = {}, .to = "a"});
  }
  EXPECT_EQ(telemetry.take().size(), kTelemetryRowsMax);
  EXPECT_EQ(telemetry.dropped(), 3 * kTelemetryRowsMax);
  EXPECT_EQ(telemetry.take().size(), 0u);
}

}  // namespace
}  // namespace tributary
