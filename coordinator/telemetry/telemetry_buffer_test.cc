#include "coordinator/telemetry/telemetry_buffer.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

struct ChronicleTest : ::testing::Test {
  ManualClock clock;
  Chronicle chronicle{clock};
};

TEST_F(ChronicleTest, HandsOverWhatHasComeOnce) {
  chronicle.event({.level = LogLevel::warning, .name = "frame_refused", .source = "a"});
  chronicle.metric({.kind = ReadingKind::round_s, .value = 2, .job = 1, .round = 3});
  const TelemetryRows rows = chronicle.take();
  ASSERT_EQ(rows.events.size(), 1u);
  EXPECT_EQ(rows.events[0].note.source, "a");
  ASSERT_EQ(rows.metrics.size(), 1u);
  EXPECT_EQ(rows.metrics[0].reading.name, "round_s");
  EXPECT_EQ(rows.metrics[0].reading.round, 3u);
  EXPECT_EQ(chronicle.take().size(), 0u);
}

TEST_F(ChronicleTest, ALinkHasTheDateOfWhenItWasTold) {
  clock.advance(std::chrono::seconds(5));
  chronicle.link(
      {.from = "a", .to = {}, .alpha_s = 0.01, .beta_s_per_byte = 1e-6, .confidence = 0.5});
  clock.advance(std::chrono::seconds(5));
  chronicle.link({.from = {}, .to = "b"});
  const TelemetryRows rows = chronicle.take();
  ASSERT_EQ(rows.link_samples.size(), 2u);
  EXPECT_EQ(rows.link_samples[0].from, "a");
  EXPECT_EQ(rows.link_samples[0].confidence, 0.5);
  EXPECT_EQ(rows.link_samples[1].to, "b");
  EXPECT_EQ(rows.link_samples[1].at_wall_ns - rows.link_samples[0].at_wall_ns, 5'000'000'000);
}

TEST_F(ChronicleTest, HoldsNoMoreThanTheJournalTakesAtOnce) {
  for (std::size_t i = 0; i < 2 * kTelemetryRowsMax; ++i) {
    chronicle.event({.level = LogLevel::info, .name = "agent_gone"});
    chronicle.link({.from = {}, .to = "a"});
  }
  EXPECT_EQ(chronicle.take().size(), kTelemetryRowsMax);
  EXPECT_EQ(chronicle.dropped(), 3 * kTelemetryRowsMax);
  EXPECT_EQ(chronicle.take().size(), 0u);
}

}  // namespace
}  // namespace tributary
