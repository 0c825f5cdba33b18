// Tests of plans with an aggregator in the network: when one is offered, what it is predicted to
// cost, and that rounds correct the prediction.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/plan/belief/belief.h"
#include "core/plan/decide.h"
#include "core/plan/inputs/inputs_testing.h"
#include "core/plan/inputs_text.h"

namespace tributary {
namespace {

using plan_testing::beta_of_mbit;
using plan_testing::federation;

constexpr std::size_t kSummed = 2;  // place of kInNetworkCodec in the codecs of federation()

// Agents near one another, and far from their coordinator.
PlanInputs behind_a_thin_line(bool aggregator) {
  PlanInputs inputs = federation(5, 20);
  inputs.hub_beta_s_per_byte = 0;
  inputs.peer_alpha_s = 1e-4;
  inputs.peer_beta_s_per_byte = beta_of_mbit(1000);
  inputs.settled = true;
  inputs.aggregator_present = aggregator;
  return inputs;
}

bool offers(const PlanInputs& inputs) {
  const std::vector<PlanOption> options = pareto_set(inputs, PlanPredictor(inputs), {});
  return std::ranges::any_of(options, [](const PlanOption& option) {
    return option.choice.collective == wire::Collective::in_network;
  });
}

TEST(InNetworkPlan, IsOfferedOnlyWithAnAggregatorAndItsCodec) {
  EXPECT_FALSE(offers(behind_a_thin_line(false)));
  PlanInputs inputs = behind_a_thin_line(true);
  EXPECT_TRUE(offers(inputs));
  const PlanPredictor predictor(inputs);
  for (const PlanCodec& codec : inputs.codecs) {
    EXPECT_EQ(predictor.possible(codec, wire::Collective::in_network),
              codec.spec == kInNetworkCodec);
  }
  inputs.codecs.erase(inputs.codecs.begin() + kSummed);
  EXPECT_FALSE(offers(inputs));
}

// Every agent sends once and receives once, at the same time; a ring has one and a half times that,
// and the star uses the thin line.
TEST(InNetworkPlan, IsChosenWhereEveryByteAmongTheAgentsCounts) {
  PlanInputs inputs = behind_a_thin_line(true);
  inputs.codecs = {inputs.codecs[kSummed]};
  inputs.peer_beta_s_per_byte = beta_of_mbit(20);
  const Result<PlanDecision> decision = decide(inputs);
  ASSERT_TRUE(decision.ok()) << decision.status().text();
  EXPECT_EQ(decision->chosen.choice.collective, wire::Collective::in_network);
  inputs.before = in_force(*decision, inputs, PlanPredictor(inputs));
  const Result<PlanInputs> read = parse_plan_inputs(text_of(inputs));
  ASSERT_TRUE(read.ok()) << read.status().text();
  EXPECT_TRUE(read->aggregator_present);
  EXPECT_EQ(read->before->choice, decision->chosen.choice);
  // Without the aggregator the choice in force is impossible.
  inputs.aggregator_present = false;
  const Result<PlanDecision> after = decide(inputs);
  ASSERT_TRUE(after.ok()) << after.status().text();
  EXPECT_NE(after->chosen.choice.collective, wire::Collective::in_network);
  EXPECT_TRUE(after->switched);
}

// Its exchange takes half as long again as predicted. The belief finds that, and the factors of
// other collectives stay.
TEST(InNetworkPlan, RoundsCorrectThePrediction) {
  const PlanInputs inputs = behind_a_thin_line(true);
  const PlanPredictor predictor(inputs);
  Belief belief(7, inputs.codecs);
  belief.set_agents({"a", "b", "c", "d"});
  const PreparedExchange exchange = predictor.prepare(
      inputs.codecs[kSummed], wire::Collective::in_network, 1, std::uint64_t{1} << 16);
  PlanWorld truth = predictor.worlds().front();
  truth.in_network = 1.5;
  const double seconds = predictor.exchange_s(exchange, truth);
  const std::vector<double> times = typical_world(belief.worlds(64)).times;
  for (int i = 0; i < 12; ++i) belief.saw_round(predictor, exchange, seconds, seconds);
  const std::vector<PlanWorld> worlds = belief.worlds(64);
  const PlanWorld typical = typical_world(worlds);
  double error = 0;
  for (const PlanWorld& world : worlds) {
    error += std::log(predictor.exchange_s(exchange, world) / seconds) / 64;
  }
  EXPECT_NEAR(error, 0, 0.1);
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_NEAR(typical.times[i] / times[i], 1, 0.1) << i;
  }
}

// Journals of earlier releases have worlds without the factor.
TEST(InNetworkPlan, WorldsWithoutItsFactorCanBeRead) {
  PlanInputs inputs = federation(100, 1);
  PlanWorld world = PlanPredictor(inputs).worlds().front();
  world.in_network = 2;
  std::vector<int> logs = logs_of(world);
  PlanWorld read;
  ASSERT_TRUE(world_of(logs, 4, inputs.codecs.size(), read));
  EXPECT_NEAR(read.in_network, 2, 0.01);
  logs.pop_back();
  ASSERT_TRUE(world_of(logs, 4, inputs.codecs.size(), read));
  EXPECT_EQ(read.in_network, 1);
  logs.pop_back();
  EXPECT_FALSE(world_of(logs, 4, inputs.codecs.size(), read));
}

}  // namespace
}  // namespace tributary
