// The planner's belief as steps: bands, gaps of links that come and go, and the judge of a choice.
#include "dashboard/pages/decisions/belief_curves.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tributary::dashboard {
namespace {

BelievedLink uplink(const std::string& agent, double median) {
  return {.agent = agent, .bits_per_s = {.low = median / 2, .median = median, .high = 2 * median}};
}

std::shared_ptr<DecisionBelief> belief(std::uint64_t round, std::vector<BelievedLink> links) {
  auto out = std::make_shared<DecisionBelief>();
  out->job = 1;
  out->round = round;
  out->links = std::move(links);
  out->expected_s = {.low = 1, .median = 2, .high = 3};
  return out;
}

// Ten rounds of one second.
RoundTable ten_rounds() {
  RoundTable table(100);
  for (std::uint64_t round = 1; round <= 10; ++round) {
    const auto end = static_cast<double>(round);
    table.add(NewRound{.job = 1, .round = round, .began_s = end - 1, .ended_s = end});
  }
  return table;
}

std::vector<double> values(const PlotCurve& curve) {
  std::vector<double> out;
  for (std::size_t i = 0; i < curve.series->size(); ++i) out.push_back(curve.series->at(i).y);
  return out;
}

TEST(BeliefCurves, HoldUntilTheNextDecision) {
  const RoundTable table = ten_rounds();
  BeliefCurves curves;
  curves.add(belief(6, {uplink("a", 40)}));
  curves.add(belief(2, {uplink("a", 10)}));
  EXPECT_TRUE(curves.update(table, false));
  EXPECT_FALSE(curves.update(table, false)) << "nothing new";
  const std::vector<PlotCurve> rates = curves.rates();
  ASSERT_EQ(rates.size(), 1u);
  EXPECT_EQ(rates[0].key, "a ↑");
  EXPECT_EQ(rates[0].colour_key, "a");
  EXPECT_EQ(values(rates[0]), (std::vector<double>{10, 10, 40, 40}));
  EXPECT_EQ(rates[0].low->at(0).y, 5);
  EXPECT_EQ(rates[0].high->at(3).y, 80);
  EXPECT_EQ(rates[0].series->at(0).x, 1.5);
  EXPECT_EQ(rates[0].series->at(3).x, 10);
  EXPECT_EQ(curves.expected_high()->last()->y, 3);
  EXPECT_TRUE(curves.update(table, true));
  EXPECT_EQ(curves.rates()[0].series->at(0).x, 1) << "the begin of round 2";
}

TEST(BeliefCurves, ALinkThatIsGoneHasAGap) {
  const RoundTable table = ten_rounds();
  BeliefCurves curves;
  curves.add(belief(2, {uplink("a", 10), uplink("b", 20)}));
  curves.add(belief(5, {uplink("a", 10)}));
  curves.add(belief(8, {uplink("a", 10), uplink("b", 30)}));
  curves.update(table, false);
  const std::vector<PlotCurve> rates = curves.rates();
  ASSERT_EQ(rates.size(), 2u);
  std::size_t gaps = 0;
  for (const double value : values(rates[1])) {
    if (std::isnan(value)) ++gaps;
  }
  EXPECT_GE(gaps, 1u);
  EXPECT_EQ(rates[1].series->last()->y, 30);
}

TEST(BeliefCurves, TheNextDecisionJudgesAChoice) {
  BeliefCurves curves;
  const auto first = belief(2, {});
  const auto second = belief(6, {});
  second->before = PlanHindsight{.regret_s = 0.5};
  curves.add(second);
  curves.add(first);
  EXPECT_EQ(curves.of(2), first.get());
  EXPECT_EQ(curves.of(3), nullptr);
  EXPECT_EQ(curves.judge_of(2), second.get());
  EXPECT_EQ(curves.judge_of(6), nullptr);
  EXPECT_TRUE(belief_text(first.get(), second.get()).contains("round 6: 500 ms per round"))
      << belief_text(first.get(), second.get()).toStdString();
  second->before->regret_s = 0;
  EXPECT_TRUE(
      belief_text(first.get(), second.get()).endsWith("No regret by the belief of round 6."));
  EXPECT_EQ(belief_text(nullptr, nullptr), "");
}

// The newest are kept.
TEST(BeliefCurves, AreBounded) {
  BeliefCurves curves;
  for (std::uint64_t round = 1; round <= BeliefCurves::kBeliefsMax + 1; ++round) {
    curves.add(belief(round, {}));
  }
  EXPECT_EQ(curves.of(1), nullptr);
  EXPECT_NE(curves.of(2), nullptr);
}

}  // namespace
}  // namespace tributary::dashboard
