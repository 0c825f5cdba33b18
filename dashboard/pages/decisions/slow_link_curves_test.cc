// Tests of the curves of the slowest links. Rounds take two seconds each, so that times and rounds
// can be computed by hand.
#include "dashboard/pages/decisions/slow_link_curves.h"

#include <gmock/gmock.h>

namespace tributary::dashboard {
namespace {

class SlowLinkCurvesTest : public testing::Test {
 protected:
  // Every round takes two seconds; the first one starts at 0.
  void round(std::uint64_t number) {
    const auto at = 2 * static_cast<double>(number);
    RunChanges changes;
    changes.rounds.push_back({.job = 1, .round = number, .began_s = at - 2, .ended_s = at});
    view_.apply(std::move(changes));
  }
  void sample(const std::string& from, const std::string& to, double time_s, double alpha_s,
              double beta) {
    RunChanges changes;
    changes.links.push_back({from, to, time_s, alpha_s, beta});
    view_.apply(std::move(changes));
  }
  bool update() { return links_.update(view_, 1); }

  void job_is(wire::JobState state) {
    RunChanges changes;
    changes.jobs = {{.job = 1, .state = state}};
    view_.apply(std::move(changes));
  }

  RunView view_;
  SlowLinkCurves links_;
};

TEST_F(SlowLinkCurvesTest, ShowsLatencyAndRate) {
  round(1);
  sample("a", "", 1, kUnknown, 8e-6);
  sample("", "a", 1, 0.01, kUnknown);
  sample("", "a", 1.5, 0.02, kUnknown);
  sample("a", "b", 1, 0.5, 1);  // a link between two agents
  EXPECT_TRUE(update());
  const std::vector<PlotCurve> rate = links_.rate(false);
  ASSERT_EQ(rate.size(), 1u);
  EXPECT_EQ(rate[0].name, "a ↑");
  EXPECT_NEAR(rate[0].series->last()->y, 1e6, 1e-3);
  EXPECT_NEAR(rate[0].series->last()->x, 0.5, 1e-12) << "in the middle of the first round";
  const std::vector<PlotCurve> alpha = links_.alpha(true);
  ASSERT_EQ(alpha.size(), 1u);
  EXPECT_EQ(alpha[0].series->size(), 2u);
  EXPECT_EQ(alpha[0].series->last()->x, 1.5);
}

TEST_F(SlowLinkCurvesTest, AnAgentHasOneColourAndItsSecondLinkIsPaler) {
  round(1);
  sample("a", "", 1, 0.01, kUnknown);
  sample("", "a", 1, 0.02, kUnknown);
  sample("", "b", 1, 0.03, kUnknown);
  update();
  const std::vector<PlotCurve> alpha = links_.alpha(false);
  ASSERT_EQ(alpha.size(), 3u);
  EXPECT_EQ(alpha[0].colour_key, "a");
  EXPECT_FALSE(alpha[0].pale);
  EXPECT_EQ(alpha[1].colour_key, "a");
  EXPECT_TRUE(alpha[1].pale);
  EXPECT_EQ(alpha[2].colour_key, "b");
  EXPECT_FALSE(alpha[2].pale);
}

TEST_F(SlowLinkCurvesTest, ReadingsOfARunningRoundWaitForItsEnd) {
  round(1);
  sample("a", "", 3, kUnknown, 1e-6);
  update();
  EXPECT_EQ(links_.rate(true)[0].series->size(), 1u);
  EXPECT_EQ(links_.rate(false)[0].series->size(), 0u);
  round(2);
  EXPECT_FALSE(update());
  ASSERT_EQ(links_.rate(false)[0].series->size(), 1u);
  EXPECT_NEAR(links_.rate(false)[0].series->last()->x, 1.5, 1e-12);
}

TEST_F(SlowLinkCurvesTest, LaterReadingsStandAtTheEndOfTheLastRound) {
  job_is(wire::JobState::running);
  for (const std::uint64_t number : {1u, 2u}) round(number);
  sample("a", "", 3, kUnknown, 1e-6);
  sample("a", "", 7, kUnknown, 4e-6);
  update();
  EXPECT_EQ(links_.rate(false)[0].series->size(), 1u) << "a third round may come";
  job_is(wire::JobState::stopped);
  EXPECT_FALSE(update());
  const auto stopped = links_.rate(false)[0].series;
  ASSERT_EQ(stopped->size(), 2u);
  EXPECT_EQ(stopped->last()->x, 2);
  EXPECT_NEAR(stopped->last()->y, 2e6, 1e-3);
}

TEST_F(SlowLinkCurvesTest, TheSlowestLinksAreShown) {
  round(1);
  for (int i = 0; i < 100; ++i)
    sample("agent-" + std::to_string(i), "", 1, kUnknown, 1e-6 * (i + 1));
  update();
  const std::vector<PlotCurve> rate = links_.rate(false);
  ASSERT_EQ(rate.size(), SlowLinkCurves::kLinksMax);
  EXPECT_EQ(rate[0].name, "agent-96 ↑");
  EXPECT_EQ(rate[3].name, "agent-99 ↑");
  sample("agent-0", "", 1.5, kUnknown, 1e-4);
  for (int i = 0; i < 100; ++i) sample("agent-96", "", 1.6, kUnknown, 1e-3);
  EXPECT_TRUE(update());
  const std::vector<PlotCurve> later = links_.rate(false);
  EXPECT_EQ(later[0].name, "agent-0 ↑");
  EXPECT_EQ(later[1].name, "agent-96 ↑");
  EXPECT_EQ(later[1].series, rate[0].series) << "a way that stays keeps its curve";
}

}  // namespace
}  // namespace tributary::dashboard
