// Tests of the planner's decision on given inputs: reasons to plan again, budgets, ratios by agent,
// and the sentence that an operator reads.
#include "core/plan/decide.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "core/plan/inputs/inputs_testing.h"

namespace tributary {
namespace {

using plan_testing::beta_of_mbit;
using plan_testing::federation;
using testing::AllOf;
using testing::HasSubstr;

PlanDecision decided(const PlanInputs& inputs) {
  Result<PlanDecision> decision = decide(inputs);
  EXPECT_TRUE(decision.ok()) << decision.status().text();
  return decision.ok() ? *decision : PlanDecision();
}

// Makes the decision the one in force for `rounds` rounds.
void put_in_force(PlanInputs& inputs, const PlanDecision& decision, std::uint64_t rounds) {
  inputs.before = in_force(decision, inputs, PlanPredictor(inputs));
  inputs.before->rounds = rounds;
}

void set_lines(PlanInputs& inputs, double mbit, double alpha_ms) {
  for (PlanAgent& agent : inputs.agents) {
    agent.alpha_s = alpha_ms * 1e-3;
    agent.beta_s_per_byte = beta_of_mbit(mbit);
  }
  inputs.peer_alpha_s = alpha_ms * 1e-3;
  inputs.peer_beta_s_per_byte = beta_of_mbit(mbit);
  inputs.hub_beta_s_per_byte = beta_of_mbit(mbit);
}

// The first choice maximizes the gain per time, which is the knee of the Pareto set.
TEST(Decide, TheFirstTimeTakesTheKnee) {
  const PlanDecision decision = decided(federation(100, 10));
  EXPECT_EQ(decision.trigger, wire::Trigger::first_round);
  EXPECT_TRUE(decision.switched);
  const auto rate = [](const PlanOption& option) { return option.cost.gain / option.cost.round_s; };
  for (const PlanOption& option : decision.options) {
    EXPECT_LE(rate(option), rate(decision.chosen)) << option.choice.codec;
  }
  EXPECT_THAT(decision.reason, HasSubstr(" in the first plan, because the slowest uplink has "));
  EXPECT_THAT(decision.reason, HasSubstr("100 Mbit/s"));
}

// A fast link favours lossless codecs, and a slow link small ratios.
TEST(Decide, AFastLineNeedsNoCompressionAndASlowOneDoes) {
  PlanInputs fast = federation(100'000, 0.01);
  for (PlanCodec& codec : fast.codecs) codec.decode_s_per_value *= 10;
  EXPECT_GE(decided(fast).chosen.cost.gain, 0.99);
  const PlanDecision slow = decided(federation(0.5, 50));
  EXPECT_LT(slow.chosen.choice.ratio, 0.1);
}

TEST(Decide, WithoutAReasonNothingIsSearchedAndNothingChanges) {
  PlanInputs inputs = federation(100, 10);
  const PlanDecision first = decided(inputs);
  put_in_force(inputs, first, 100);
  const PlanDecision second = decided(inputs);
  EXPECT_EQ(second.trigger, wire::Trigger::unchanged);
  EXPECT_FALSE(second.switched);
  EXPECT_EQ(second.chosen.choice, first.chosen.choice);
  EXPECT_TRUE(second.options.empty());
  EXPECT_THAT(second.reason, AllOf(testing::StartsWith("Keep "),
                                   testing::EndsWith(": no link, gain or time changed enough")));
}

// A changed link triggers a new choice only after the dwell time of the current one.
TEST(Decide, ALineThatChangesIsAReasonOnceTheChoiceHasHadItsTime) {
  PlanInputs inputs = federation(1000, 1);
  put_in_force(inputs, decided(inputs), inputs.policy.dwell_rounds - 1);
  set_lines(inputs, 2, 25);
  EXPECT_EQ(decided(inputs).trigger, wire::Trigger::unchanged);
  ++inputs.before->rounds;
  const PlanDecision decision = decided(inputs);
  EXPECT_EQ(decision.trigger, wire::Trigger::link_changed);
  EXPECT_TRUE(decision.switched);
  EXPECT_THAT(decision.reason, HasSubstr("instead of"));
  EXPECT_THAT(
      decision.reason,
      HasSubstr("because the slowest link changed from 1 Gbit/s and 1 ms to 2 Mbit/s and 25 ms"));
}

// A change of the links after which the choice in force is still the best one is no decision.
TEST(Decide, AChangeThatLeavesTheChoiceIsNone) {
  PlanInputs inputs = federation(100, 10);
  put_in_force(inputs, decided(inputs), 100);
  set_lines(inputs, 100 * 1.15, 10 / 1.15);
  EXPECT_EQ(decided(inputs).trigger, wire::Trigger::unchanged);
}

// A star with slow uplinks, in which the slowest agents get smaller ratios.
PlanInputs unlike() {
  PlanInputs inputs = federation(20, 5);
  inputs.peers_reachable = false;
  inputs.hub_beta_s_per_byte = 0;
  std::erase_if(inputs.codecs, [](const PlanCodec& codec) { return codec.spec != "topk"; });
  for (std::size_t i = 0; i < inputs.agents.size(); ++i) {
    inputs.agents[i].name = "agent-" + std::to_string(i);
    inputs.agents[i].down_beta_s_per_byte = beta_of_mbit(10'000);
  }
  inputs.agents[3].beta_s_per_byte = beta_of_mbit(2);
  return inputs;
}

// The reason names the agents with smaller ratios.
TEST(Decide, NamesTheAgentThatKeepsLess) {
  PlanInputs inputs = unlike();
  const PlanDecision decision = decided(inputs);
  const double ratio = decision.chosen.choice.ratio;
  ASSERT_EQ(decision.ratios.size(), 4u);
  EXPECT_EQ(decision.ratios[0], ratio);
  EXPECT_LT(decision.ratios[3], ratio / 5);
  EXPECT_THAT(decision.reason, HasSubstr(fmt::format("; for its slow link agent-3 has ratio {:.2g}",
                                                     decision.ratios[3])));
  EXPECT_THAT(decision.reason, testing::Not(HasSubstr("agent-1 has")));
  inputs.agents[3].name.clear();
  EXPECT_THAT(decided(inputs).reason, HasSubstr("agent 3 has ratio "));
}

// With many such agents, the reason gives their number and the smallest ratio.
TEST(Decide, CountsTheAgentsThatKeepLessAndNamesTheLeast) {
  PlanInputs inputs = unlike();
  inputs.agents.resize(16, inputs.agents[0]);
  for (std::size_t i = 10; i < 16; ++i) inputs.agents[i].beta_s_per_byte = beta_of_mbit(3);
  const PlanDecision decision = decided(inputs);
  ASSERT_EQ(decision.ratios.size(), 16u);
  EXPECT_THAT(decision.reason,
              HasSubstr(fmt::format("; 7 of 16 agents have a smaller ratio, the slowest {:.2g}",
                                    decision.ratios[3])));
}

// A change of any agent's link can require new ratios, even if the slowest link stays.
TEST(Decide, AChangedDifferenceOfLinksSetsNewShares) {
  PlanInputs inputs = unlike();
  const PlanDecision first = decided(inputs);
  put_in_force(inputs, first, 100);
  EXPECT_EQ(inputs.before->ratios, first.ratios);
  EXPECT_EQ(decided(inputs).trigger, wire::Trigger::unchanged);
  // The slowest link does not change; another agent's does.
  inputs.agents[1].beta_s_per_byte = beta_of_mbit(4);
  const PlanDecision second = decided(inputs);
  EXPECT_EQ(second.trigger, wire::Trigger::link_changed);
  EXPECT_THAT(second.reason, HasSubstr("the link of agent-1 allows a ratio of 0."));
  EXPECT_THAT(second.reason, HasSubstr("agent-1 has ratio "));
  put_in_force(inputs, second, 100);
  inputs.agents[1].beta_s_per_byte = beta_of_mbit(4.1);
  EXPECT_EQ(decided(inputs).trigger, wire::Trigger::unchanged);
}

// The belief about the choice in force becomes worse, so another one is chosen.
TEST(Decide, AChoiceThatIsBelievedSlowerIsLeft) {
  PlanInputs inputs = federation(100, 10);
  inputs.worlds.assign(4, PlanPredictor(inputs).worlds().front());
  const PlanDecision first = decided(inputs);
  put_in_force(inputs, first, 100);
  EXPECT_EQ(decided(inputs).trigger, wire::Trigger::unchanged);
  for (PlanWorld& world : inputs.worlds) {
    for (std::size_t k = 0; k < inputs.codecs.size(); ++k) {
      world.times[times_place(k, first.chosen.choice.collective)] = 5;
    }
  }
  const PlanDecision decision = decided(inputs);
  EXPECT_EQ(decision.trigger, wire::Trigger::link_changed);
  EXPECT_NE(decision.chosen.choice.collective, first.chosen.choice.collective);
}

// The choice in force becomes slower for certain. It is left for one that makes 5 % more progress
// per second and as much more as a switch costs.
TEST(Decide, ASwitchPays) {
  PlanInputs inputs = federation(100, 10);
  inputs.worlds.assign(4, PlanPredictor(inputs).worlds().front());
  const PlanDecision first = decided(inputs);
  put_in_force(inputs, first, 100);
  inputs.policy.rounds_left = 100'000;
  PlanDecision decision;
  for (double factor = 1; factor < 20 && !decision.switched; factor *= 1.01) {
    for (PlanWorld& world : inputs.worlds) {
      for (std::size_t k = 0; k < inputs.codecs.size(); ++k) {
        world.times[times_place(k, first.chosen.choice.collective)] = factor;
      }
    }
    decision = decided(inputs);
  }
  ASSERT_TRUE(decision.switched);
  const PlanPredictor predictor(inputs);
  const PlanChoice& left = first.chosen.choice;
  const PlanCost cost =
      predictor.cost(*find_codec(inputs, left), left.collective, left.ratio, left.bucket_values);
  const PlanCost& chosen = decision.chosen.cost;
  const double better = chosen.gain / chosen.round_s * cost.round_s / cost.gain;
  EXPECT_GT(better, 1.05);
  EXPECT_LT(better, 1.09);
  EXPECT_THAT(decision.reason, HasSubstr("Use "));
}

// A trial is worth what it teaches in the rounds that are left.
TEST(Decide, NothingIsTriedAtTheEndOfAJob) {
  PlanInputs inputs = federation(2, 5);
  inputs.worlds.assign(8, PlanPredictor(inputs).worlds().front());
  for (PlanWorld& world : inputs.worlds) world.peers.beta_s_per_byte *= 3;
  put_in_force(inputs, decided(inputs), 100);
  inputs.worlds[0].peers.beta_s_per_byte /= 200;
  const PlanDecision tried = decided(inputs);
  EXPECT_TRUE(tried.switched);
  EXPECT_THAT(tried.reason, testing::StartsWith("Try "));
  EXPECT_THAT(tried.reason, HasSubstr(" times as much progress per second (90 % sure) and "));
  inputs.policy.rounds_left = 4;
  EXPECT_FALSE(decided(inputs).switched);
}

// A choice that is probably a little worse, but perhaps much better, is worth a try. One that is
// certainly worse is not.
TEST(Decide, TriesWhatMayBeMuchBetter) {
  PlanInputs inputs = federation(2, 5);
  inputs.worlds.assign(8, PlanPredictor(inputs).worlds().front());
  for (PlanWorld& world : inputs.worlds) world.peers.beta_s_per_byte *= 8;
  const PlanDecision star = decided(inputs);
  EXPECT_EQ(star.chosen.choice.collective, wire::Collective::star);
  put_in_force(inputs, star, 100);
  EXPECT_FALSE(decided(inputs).switched);
  for (std::size_t i = 0; i < 4; ++i) inputs.worlds[i].peers.beta_s_per_byte /= 200;
  const PlanDecision tried = decided(inputs);
  EXPECT_TRUE(tried.switched);
  EXPECT_NE(tried.chosen.choice.collective, wire::Collective::star);
}

// Updates whose energy is spread over more values lose more at the same ratio.
TEST(Decide, TheGainThatChangesIsAReason) {
  PlanInputs inputs = federation(5, 10);
  const PlanDecision first = decided(inputs);
  ASSERT_LT(first.chosen.choice.ratio, 1);
  put_in_force(inputs, first, 100);
  for (PlanAgent& agent : inputs.agents) {
    for (double& gain : agent.gain.gains) gain *= 0.7;
  }
  const PlanDecision decision = decided(inputs);
  if (!decision.switched) return;
  EXPECT_EQ(decision.trigger, wire::Trigger::gain_changed);
  EXPECT_THAT(decision.reason, HasSubstr(" % of the update instead of "));
}

// The hysteresis keeps the current choice if the best one is only slightly better.
TEST(Decide, ASmallImprovementCausesNoSwitch) {
  PlanInputs inputs = federation(100, 10);
  const PlanDecision first = decided(inputs);
  put_in_force(inputs, first, 100);
  set_lines(inputs, 70, 10);
  inputs.policy.hysteresis = 2;
  EXPECT_EQ(decided(inputs).trigger, wire::Trigger::unchanged);
}

// An impossible choice is replaced without waiting for the dwell time.
TEST(Decide, AChoiceThatCannotBeCarriedOutIsLeftAtOnce) {
  PlanInputs inputs = federation(100, 1);
  PlanDecision first = decided(inputs);
  first.chosen.choice.collective = wire::Collective::ring;
  put_in_force(inputs, first, 0);
  inputs.peers_reachable = false;
  const PlanDecision decision = decided(inputs);
  EXPECT_EQ(decision.trigger, wire::Trigger::membership_changed);
  EXPECT_EQ(decision.chosen.choice.collective, wire::Collective::star);
  EXPECT_THAT(decision.reason, HasSubstr("because the agents cannot reach one another any more"));
  inputs.before->choice.codec = "gone";
  EXPECT_THAT(decided(inputs).reason, HasSubstr("because codec gone is not available any more"));
}

// A change of membership is a reason without the dwell time.
TEST(Decide, AnotherNumberOfAgentsIsAReasonAtOnce) {
  PlanInputs inputs = federation(100, 1);
  put_in_force(inputs, decided(inputs), 0);
  inputs.agents.push_back(inputs.agents.front());
  const PlanDecision decision = decided(inputs);
  EXPECT_EQ(decision.trigger, wire::Trigger::membership_changed);
  EXPECT_THAT(decision.reason, HasSubstr("5 agents take part instead of 4"));
}

// A larger time budget buys more gain.
TEST(Decide, WithATimeBudgetTakesTheMostGainThatFits) {
  PlanInputs inputs = federation(10, 10);
  inputs.policy.goal = wire::PlanGoal::time_budget;
  inputs.policy.rounds_left = 100;
  double gain = 0;
  for (const double budget_s : {20.0, 60.0, 1000.0}) {
    inputs.policy.budget_s = budget_s;
    const PlanDecision decision = decided(inputs);
    EXPECT_FALSE(decision.over_budget) << budget_s;
    EXPECT_LE(decision.chosen.cost.round_s * 100, budget_s);
    EXPECT_GT(decision.chosen.cost.gain, gain) << budget_s;
    gain = decision.chosen.cost.gain;
  }
  EXPECT_EQ(gain, 1);
}

// If no choice keeps the time budget, the fastest one is taken and the reason says so.
TEST(Decide, AnImpossibleTimeBudgetIsReportedAndTheFastestChosen) {
  PlanInputs inputs = federation(10, 10);
  inputs.policy.goal = wire::PlanGoal::time_budget;
  for (const double budget_s : {1.0, 0.0, -5.0}) {
    inputs.policy.budget_s = budget_s;
    const PlanDecision decision = decided(inputs);
    EXPECT_TRUE(decision.over_budget);
    for (const PlanOption& option : decision.options) {
      if (option.cost.gain < inputs.policy.gain_min) continue;
      EXPECT_GE(option.cost.round_s, decision.chosen.cost.round_s);
    }
    EXPECT_THAT(decision.reason, HasSubstr("do not fit"));
  }
}

// The byte budget first selects smaller choices, and then adds pauses between rounds.
TEST(Decide, KeepsAByteBudget) {
  PlanInputs inputs = federation(100, 10);
  inputs.policy.goal = wire::PlanGoal::byte_budget;
  inputs.policy.seconds_left_today = 3600;
  inputs.policy.rounds_left = 1000;
  inputs.policy.bytes_left_today = 1e12;
  const PlanDecision rich = decided(inputs);
  EXPECT_EQ(rich.pause_s, 0);
  inputs.policy.bytes_left_today = 5e7;
  const PlanDecision poor = decided(inputs);
  EXPECT_FALSE(poor.over_budget);
  EXPECT_LE((poor.chosen.cost.bytes_up + poor.chosen.cost.bytes_down) * 1000, 5e7);
  inputs.policy.bytes_left_today = 1e5;
  const PlanDecision impossible = decided(inputs);
  EXPECT_TRUE(impossible.over_budget);
  EXPECT_GT(impossible.pause_s, 10);
  EXPECT_THAT(impossible.reason, HasSubstr("rounds pause"));
  inputs.policy.bytes_left_today = 0;
  EXPECT_EQ(decided(inputs).pause_s, 3600);
}

// A choice below gain_min is only allowed if no other one exists.
TEST(Decide, NothingThatLetsTooLittleThroughWhileThereIsAnythingElse) {
  PlanInputs inputs = federation(0.1, 100);
  inputs.policy.gain_min = 0.4;
  EXPECT_GE(decided(inputs).chosen.cost.gain, 0.4);
}

// The reason gives the range of the believed rates.
TEST(Decide, TheReasonSaysHowSureTheBeliefIs) {
  PlanInputs inputs = federation(100, 1);
  inputs.worlds.assign(2, PlanPredictor(inputs).worlds().front());
  for (PlanWorld::Link& link : inputs.worlds[1].links) link.rate.up *= 2;
  inputs.worlds[1].summarize();
  EXPECT_THAT(
      decided(inputs).reason,
      AllOf(HasSubstr("the slowest uplink has 50 Mbit/s to 100 Mbit/s"), HasSubstr("(90 % sure)")));
}

// A single agent has no peers.
TEST(Decide, OneAgentExchangesWithTheCoordinator) {
  const PlanDecision decision = decided(federation(100, 1, 1));
  EXPECT_EQ(decision.chosen.choice.collective, wire::Collective::star);
}

TEST(Decide, NumbersThatCannotBeAreRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  using Spoil = void (*)(PlanInputs&, double);
  const std::vector<Spoil> with_any = {
      [](PlanInputs& inputs, double x) { inputs.hub_beta_s_per_byte = x; },
      [](PlanInputs& inputs, double x) { inputs.codecs[1].gain = x; },
      [](PlanInputs& inputs, double x) { inputs.codecs[1].stages[0].up_bytes = x; },
      [](PlanInputs& inputs, double x) { inputs.agreement = x; },
      [](PlanInputs& inputs, double x) { inputs.policy.gain_weight = x; },
      [](PlanInputs& inputs, double x) {
        inputs.worlds = PlanPredictor(inputs).worlds();
        inputs.worlds[0].times[3] = x;
      },
      [](PlanInputs& inputs, double x) { inputs.agents[0].weight = x; }};
  for (const Spoil spoil : with_any) {
    for (const double x : {nan, infinite, -1.0}) {
      PlanInputs inputs = federation(100, 1);
      spoil(inputs, x);
      EXPECT_EQ(decide(inputs).status().code(), StatusCode::invalid_argument) << x;
    }
  }
  const std::vector<Spoil> known = {
      [](PlanInputs& inputs, double x) { inputs.agents[0].alpha_s = x; },
      [](PlanInputs& inputs, double x) { inputs.agents[0].beta_s_per_byte = x; },
      [](PlanInputs& inputs, double x) { inputs.peer_alpha_s = x; },
      [](PlanInputs& inputs, double x) { inputs.agents[0].compute_s = x; }};
  for (const Spoil spoil : known) {
    for (const double x : {infinite, -1.0}) {
      PlanInputs inputs = federation(100, 1);
      spoil(inputs, x);
      EXPECT_EQ(decide(inputs).status().code(), StatusCode::invalid_argument) << x;
    }
  }
}

// An empty federation, an empty list of codecs and an empty model are invalid inputs.
TEST(Decide, NoAgentsAndNoValuesAreRefused) {
  PlanInputs no_agents = federation(100, 1);
  no_agents.agents.clear();
  EXPECT_EQ(decide(no_agents).status().code(), StatusCode::invalid_argument);
  PlanInputs nothing = federation(100, 1);
  nothing.codecs.clear();
  EXPECT_EQ(decide(nothing).status().code(), StatusCode::invalid_argument);
  PlanInputs empty = federation(100, 1);
  empty.values = 0;
  EXPECT_EQ(decide(empty).status().code(), StatusCode::invalid_argument);
}

}  // namespace
}  // namespace tributary
