// Tests of the rate of a simulated link: constant, by a trace, and by random steps.
#include "core/sim/link/link_rate.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "core/sim/scenario/event_queue.h"

namespace tributary {
namespace {

using std::chrono::seconds;

std::shared_ptr<const LinkTrace> trace_of(std::vector<TraceStep> steps) {
  Result<LinkTrace> trace = LinkTrace::make(std::move(steps));
  EXPECT_TRUE(trace.ok()) << trace.status().text();
  return std::make_shared<const LinkTrace>(std::move(*trace));
}

TEST(LinkRate, AConstantRateTakesTimeByBytes) {
  LinkRate rate(8);  // 1 MB/s
  EXPECT_EQ(rate.last_byte_at(5 * kS, 1'000'000), 6 * kS);
  EXPECT_EQ(rate.delay_ns(0), 0);
}

TEST(LinkRate, AMessageInTransitContinuesAtTheNewRate) {
  // 1 MB/s for 2 s, then 0.1 MB/s for 10 s, repeated.
  LinkRate rate(trace_of({{seconds(2), 1'000'000, seconds(1), 0}, {seconds(10), 100'000, {}, 0}}),
                0);
  EXPECT_EQ(rate.last_byte_at(0, 1'000'000), kS);
  EXPECT_EQ(rate.last_byte_at(kS, 1'500'000), 7 * kS)
      << "1 MB in the first second, 0.5 MB after it";
  EXPECT_EQ(rate.last_byte_at(0, 3'500'000), 12 * kS + kS / 2) << "over both steps, into the next";
  EXPECT_EQ(rate.delay_ns(kS), kS);
  EXPECT_EQ(rate.delay_ns(3 * kS), 0);
}

TEST(LinkRate, ATraceBeginsAtItsOffsetAndRepeats) {
  const auto trace = trace_of({{seconds(2), 1'000'000, {}, 0}, {seconds(3), 500'000, {}, 0}});
  LinkRate rate(trace, 3 * kS);  // 2 s of the second step are left
  EXPECT_EQ(rate.last_byte_at(0, 1'000'000), 2 * kS);
  EXPECT_EQ(rate.last_byte_at(0, 2'000'000), 3 * kS);
  LinkRate later(trace, 8 * kS);
  EXPECT_EQ(later.last_byte_at(0, 1'000'000), 2 * kS);
}

TEST(LinkRate, AStepWithoutALimitTakesNoTime) {
  LinkRate rate(trace_of({{seconds(1), 0, {}, 0}}), 0);
  EXPECT_EQ(rate.last_byte_at(7, std::uint64_t{1} << 40), 7);
}

TEST(LinkRate, StepsTakeTurnsWithinTheirSpans) {
  const std::vector<RateStep> steps = {{{2, 4}, {1, 1}}, {{1, 2}, {0.01, 0.1}}};
  LinkRate rate(8, steps, SeededDraws(1, DrawUse::rate_steps, 3));
  int fast = 0;
  int slow = 0;
  for (TimeNs at = 0; at < 2000 * kS; at += kS / 10) {
    const double took = static_cast<double>(rate.last_byte_at(at, 10) - at) / 10'000;
    if (took < 1.01) ++fast;
    if (took > 9.99) ++slow;
    EXPECT_GE(took, 0.999);
    EXPECT_LE(took, 100.01);
    rate.forget_before(at);
  }
  EXPECT_NEAR(static_cast<double>(fast) / 20'000, 3 / 4.5, 0.05);
  EXPECT_NEAR(static_cast<double>(slow) / 20'000, 1.5 / 4.5, 0.05);
}

TEST(LinkRate, TheSameDrawsGiveTheSameSteps) {
  const std::vector<RateStep> steps = {{{2, 4}, {0.1, 1}}};
  LinkRate a(8, steps, SeededDraws(1, DrawUse::rate_steps, 3));
  LinkRate b(8, steps, SeededDraws(1, DrawUse::rate_steps, 3));
  LinkRate c(8, steps, SeededDraws(1, DrawUse::rate_steps, 4));
  EXPECT_EQ(a.last_byte_at(0, 100'000'000), b.last_byte_at(0, 100'000'000));
  EXPECT_NE(a.last_byte_at(0, 100'000'000), c.last_byte_at(0, 100'000'000));
}

TEST(LinkRate, AQueueThatWasLookedAheadDoesNotMoveTheRate) {
  const auto trace = trace_of({{seconds(1), 1'000'000, {}, 0}, {seconds(1), 10'000, {}, 0}});
  LinkRate rate(trace, 0);
  rate.last_byte_at(0, 20'000'000);
  EXPECT_EQ(rate.last_byte_at(0, 1'000'000), kS);
}

TEST(DrawLogUniform, StaysInItsSpanAndSpreadsOverMagnitudes) {
  SeededDraws draws(1, DrawUse::rates, 0);
  int low = 0;
  for (int i = 0; i < 2000; ++i) {
    const double drawn = draw_log_uniform({0.1, 10}, draws);
    EXPECT_GE(drawn, 0.1);
    EXPECT_LE(drawn, 10);
    low += drawn < 1 ? 1 : 0;
  }
  EXPECT_NEAR(low, 1000, 100);
  EXPECT_EQ(draw_log_uniform({0.3, 0.3}, draws), 0.3);
}

}  // namespace
}  // namespace tributary
