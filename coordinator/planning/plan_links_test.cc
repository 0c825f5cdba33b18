// Tests of the links that a plan uses: only figures with enough readings count.
#include "coordinator/planning/plan_links.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <memory>

#include "core/service/metrics/metrics.h"

namespace tributary {
namespace {

class PlanLinksTest : public testing::Test {
 protected:
  PlanLinks links() {
    return plan_links(figures, {"a", "b"}, std::chrono::duration<double>(clock.now()).count());
  }

  ManualClock clock;
  TelemetryBuffer telemetry{clock};
  std::unique_ptr<Metrics> metrics = *open_metrics("");
  LinkFigures figures{clock, *metrics, telemetry};
};

TEST_F(PlanLinksTest, UnmeasuredLinksAreUnknown) {
  const PlanLinks none = links();
  ASSERT_EQ(none.agents.size(), 2u);
  EXPECT_TRUE(std::isnan(none.agents.at("a").alpha_s));
  EXPECT_TRUE(std::isnan(none.agents.at("a").beta_s_per_byte));
  EXPECT_TRUE(std::isnan(none.peer_alpha_s));
  EXPECT_TRUE(std::isnan(none.peer_beta_s_per_byte));
}

// A single reading has a large error, which the planner takes into account.
TEST_F(PlanLinksTest, LinksWithEnoughReadingsAreKnown) {
  figures.uplink("a", 1e-6);
  EXPECT_GT(links().agents.at("a").beta_error, 0.2) << "once is not often enough";
  for (int i = 0; i < 20; ++i) {
    clock.advance(std::chrono::seconds(1));
    figures.uplink("a", 1e-6);
    figures.round_trip("a", 0.02);
  }
  const PlanLinks known = links();
  EXPECT_NEAR(known.agents.at("a").beta_s_per_byte, 1e-6, 1e-7);
  EXPECT_LT(known.agents.at("a").beta_error, 0.1);
  EXPECT_NEAR(known.agents.at("a").alpha_s, 0.01, 1e-3);
  EXPECT_TRUE(std::isnan(known.agents.at("b").alpha_s));
}

// They may have arrived in one burst. A large payload shows the rate again.
TEST_F(PlanLinksTest, FewBytesShowNoRate) {
  for (int i = 0; i < 20; ++i) {
    clock.advance(std::chrono::seconds(1));
    figures.uplink_of_few("a", 1e-9);
    figures.downlink_of_few("a", 1e-9);
  }
  EXPECT_TRUE(std::isnan(links().agents.at("a").beta_s_per_byte));
  EXPECT_TRUE(std::isnan(links().agents.at("a").down_beta_s_per_byte));
  figures.uplink("a", 1e-6);
  EXPECT_FALSE(std::isnan(links().agents.at("a").beta_s_per_byte));
  EXPECT_TRUE(std::isnan(links().agents.at("a").down_beta_s_per_byte));
}

// Queues only add to a latency, so a low value counts even with little confidence.
TEST_F(PlanLinksTest, AShortLatencyCountsBeforeItIsKnownWell) {
  for (int i = 0; i < 6; ++i) {
    clock.advance(std::chrono::seconds(1));
    figures.round_trip("a", i % 2 == 0 ? 0.002 : 0.02);
    figures.round_trip("b", i % 2 == 0 ? 0.08 : 0.8);
  }
  ASSERT_LT(figures.measured_links("a").up.alpha_s.confidence, kPlannedConfidence);
  const PlanLinks known = links();
  EXPECT_LT(known.agents.at("a").alpha_s, 0.003) << "nearer than what would be assumed";
  EXPECT_TRUE(std::isnan(known.agents.at("b").alpha_s)) << "it may be much less";
}

// The current slow rate replaces the long-term estimate.
TEST_F(PlanLinksTest, ALineThatIsMuchSlowerNowIsPlannedWithAsItIs) {
  for (int i = 0; i < 20; ++i) {
    clock.advance(std::chrono::seconds(1));
    figures.uplink("a", 1e-7);
  }
  for (int i = 0; i < 2; ++i) {
    clock.advance(std::chrono::seconds(1));
    figures.uplink("a", 2e-6);
  }
  const PlanLinks known = links();
  EXPECT_DOUBLE_EQ(known.agents.at("a").beta_s_per_byte, 2e-6);
  EXPECT_LT(known.agents.at("a").beta_error, 0.16) << "or nobody would believe it";
}

}  // namespace
}  // namespace tributary
