// Tests exploration: the codecs, time and duration of trials, and their effect on the choice.
#include "core/plan/trials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/plan/decide.h"
#include "core/plan/inputs/inputs_testing.h"
#include "core/plan/inputs_text.h"
#include "core/plan/planner.h"

namespace tributary {
namespace {

using plan_testing::federation;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr double kShareOfTime = 0.02;

PlanDecision decided_now(const PlanInputs& inputs) {
  Result<PlanDecision> decision = decide(inputs);
  EXPECT_TRUE(decision.ok()) << decision.status().text();
  return decision.ok() ? *decision : PlanDecision();
}

// A choice that has been in force for long enough that only exploration remains.
PlanInputs long_in_force(std::uint64_t rounds = 20) {
  PlanInputs inputs = federation(10, 5);
  inputs.policy.exploring_share = kShareOfTime;
  const PlanDecision first = decided_now(inputs);
  inputs.before = in_force(first, inputs, PlanPredictor(inputs));
  inputs.before->rounds = rounds;
  inputs.rounds_unasked = rounds;
  return inputs;
}

// Marks every codec as tried `rounds_ago` rounds ago, with the assumed gain as the result.
void try_all(PlanInputs& inputs, std::uint64_t rounds_ago) {
  const double now = PlanPredictor(inputs).curve_gain();
  for (const PlanCodec& codec : inputs.codecs) {
    if (codec.family != PlanFamily::fixed) continue;
    inputs.tried.push_back({.spec = codec.spec, .rounds = rounds_ago, .curve_gain = now});
    for (PlanAgent& agent : inputs.agents) agent.tried[codec.spec] = codec.gain;
  }
}

// An exploring_share of 0 turns trials off.
TEST(PlanTrials, NothingIsTriedWhereNoTimeIsGivenForIt) {
  PlanInputs inputs = long_in_force();
  inputs.policy.exploring_share = 0;
  const PlanDecision decision = decided_now(inputs);
  EXPECT_EQ(decision.trigger, wire::Trigger::unchanged);
  EXPECT_TRUE(decision.trials.empty());
  EXPECT_EQ(decision.trial_s, 0);
}

// Untried codecs are a reason for trials, but the choice stays.
TEST(PlanTrials, AnUntriedCodecIsTriedOnceNothingElseIsToBeDone) {
  const PlanInputs inputs = long_in_force();
  const PlanDecision decision = decided_now(inputs);
  EXPECT_EQ(decision.trigger, wire::Trigger::exploration);
  EXPECT_FALSE(decision.switched);
  EXPECT_EQ(decision.chosen.choice, inputs.before->choice);
  ASSERT_FALSE(decision.trials.empty());
  EXPECT_THAT(decision.trials, Contains("threelc:s=1"));
  EXPECT_THAT(decision.trials, Not(Contains("fp16"))) << "too large, whatever gets through";
  EXPECT_THAT(decision.trials, Not(Contains("fp32"))) << "it loses nothing";
  EXPECT_THAT(decision.trials, Not(Contains("topk"))) << "a histogram tells";
  for (const std::string& spec : decision.trials) EXPECT_THAT(decision.reason, HasSubstr(spec));
  EXPECT_THAT(decision.reason, AllOf(testing::StartsWith("Keep "), HasSubstr(": agents try ")));
  EXPECT_THAT(decision.reason, HasSubstr("because these codecs were not tried yet"));
  // An exploring decision does not change the baseline of the choice in force.
  const PlanBefore after = in_force(decision, inputs, PlanPredictor(inputs));
  EXPECT_EQ(after.rounds, inputs.before->rounds);
  EXPECT_EQ(after.exchange_s, inputs.before->exchange_s);
}

// The time limit is the policy's share of the time since the last trials, up to a fixed bound.
TEST(PlanTrials, TakeNoMoreThanTheirShareOfTheTimeSinceTheLast) {
  for (const std::uint64_t rounds : {5u, 20u, 50u, 5000u}) {
    const PlanInputs inputs = long_in_force(rounds);
    const PlanDecision decision = decided_now(inputs);
    ASSERT_FALSE(decision.trials.empty()) << rounds;
    const double since = static_cast<double>(rounds) * decision.chosen.cost.round_s;
    EXPECT_LE(decision.trial_s, kShareOfTime * since * (1 + 1e-12)) << rounds;
    EXPECT_GT(decision.trial_s, 0) << rounds;
    EXPECT_LE(decision.trial_s, kPlanTrialSecondsMax);
  }
}

// The pause between requests doubles with each one that stays unanswered.
TEST(PlanTrials, SilentAgentsAreAskedLessOften) {
  PlanInputs inputs = long_in_force(5);
  EXPECT_EQ(decided_now(inputs).trigger, wire::Trigger::exploration);
  inputs.asked_in_vain = 1;
  EXPECT_EQ(decided_now(inputs).trigger, wire::Trigger::unchanged);
  inputs.rounds_unasked = 10;
  EXPECT_EQ(decided_now(inputs).trigger, wire::Trigger::exploration);
  inputs.asked_in_vain = UINT64_MAX;
  inputs.rounds_unasked = 300;
  EXPECT_EQ(decided_now(inputs).trigger, wire::Trigger::unchanged);
  inputs.rounds_unasked = 320;
  EXPECT_EQ(decided_now(inputs).trigger, wire::Trigger::exploration);
}

// A codec is tried again after trial_rounds, or earlier if the updates have changed.
TEST(PlanTrials, TrialsRepeatAfterALongTimeOrChangedUpdates) {
  PlanInputs inputs = long_in_force();
  try_all(inputs, 20);
  EXPECT_EQ(decided_now(inputs).trigger, wire::Trigger::unchanged);
  for (PlanTried& tried : inputs.tried) tried.rounds = inputs.policy.trial_rounds;
  const PlanDecision late = decided_now(inputs);
  EXPECT_EQ(late.trigger, wire::Trigger::exploration);
  EXPECT_THAT(late.reason, HasSubstr("because the last trial was 100 rounds ago"));
  for (PlanTried& tried : inputs.tried) {
    tried.rounds = 20;
    tried.curve_gain /= 1.2;
  }
  const PlanDecision changed = decided_now(inputs);
  EXPECT_EQ(changed.trigger, wire::Trigger::exploration);
  EXPECT_THAT(changed.reason, HasSubstr("because the updates changed"));
  for (PlanTried& tried : inputs.tried) tried.rounds = 19;
  EXPECT_EQ(decided_now(inputs).trigger, wire::Trigger::unchanged) << "it may change back";
}

// Codecs with a round time near that of the choice come first.
TEST(PlanTrials, OnlyCandidatesAreTriedAndTheNearestFirst) {
  PlanInputs inputs = long_in_force();
  const PlanPredictor predictor(inputs);
  const PlanOption chosen = decided_now(inputs).chosen;
  std::vector<double> distances;
  const auto better = [](const PlanOption& option) { return option.choice.codec != "fp16"; };
  const PlanTrials trials = trials_of(inputs, predictor, chosen, better);
  ASSERT_GE(trials.specs.size(), 2u);
  EXPECT_THAT(trials.specs, Not(Contains("fp16")));
  for (const std::string& spec : trials.specs) {
    const auto codec = std::ranges::find(inputs.codecs, spec, &PlanCodec::spec);
    double quickest = 1e9;
    for (const wire::Collective kind : kCollectives) {
      const PlanCost cost = predictor.cost(*codec, kind, 1, chosen.choice.bucket_values);
      quickest = std::min(quickest, cost.round_s);
    }
    distances.push_back(std::abs(std::log(quickest / chosen.cost.round_s)));
  }
  EXPECT_TRUE(std::ranges::is_sorted(distances));
  const auto none = [](const PlanOption&) { return false; };
  const PlanTrials alone = trials_of(inputs, predictor, chosen, none);
  for (const std::string& spec : alone.specs) EXPECT_EQ(spec, chosen.choice.codec);
}

// The results of agents are averaged by their part of the joint energy.
TEST(PlanTrials, ATriedGainStandsInPlaceOfTheAssumedOneByAgentsShares) {
  PlanInputs inputs = federation(10, 5, 3);
  inputs.agents[0].weight = 2;
  inputs.agents[0].tried["thc:bits=4"] = 0.5;
  inputs.agents[1].tried["thc:bits=4"] = 0.8;
  const PlanPredictor predictor(inputs);
  const auto thc = std::ranges::find(inputs.codecs, "thc:bits=4", &PlanCodec::spec);
  EXPECT_NEAR(predictor.fixed_gain(*thc), (4 * 0.5 + 0.8) / 5, 1e-12) << "the third knows nothing";
  EXPECT_NEAR(predictor.cost(*thc, wire::Collective::star, 1, 65'536).gain, 0.56, 1e-12);
  const auto fp16 = std::ranges::find(inputs.codecs, "fp16", &PlanCodec::spec);
  EXPECT_EQ(predictor.fixed_gain(*fp16), fp16->gain);
}

// The complete cycle: a codec with an overestimated gain is chosen, tried and abandoned.
TEST(PlanTrials, AWrongBeliefIsFoundOutAndTheChoiceFollows) {
  std::vector<PlanCodec> codecs = federation(10, 5).codecs;
  const auto threelc = std::ranges::find(codecs, "threelc:s=1", &PlanCodec::spec);
  threelc->gain = 0.99;  // the true gain is less than half
  Planner planner({.values = 1u << 20, .codecs = codecs});
  PlanLinks links;
  links.agents["a"] = links.agents["b"] = {.alpha_s = 5e-3,
                                           .beta_s_per_byte = plan_testing::beta_of_mbit(10),
                                           .down_beta_s_per_byte = plan_testing::beta_of_mbit(10)};
  const PlanPolicy policy = {.rounds_left = 1000, .exploring_share = kShareOfTime};
  PlanChoice choice;
  std::vector<Planned> made;
  std::vector<std::string> asked;
  double spent_s = 0;
  double played_s = 0;
  PlanCost cost;
  for (int round = 0; round < 60; ++round) {
    RoundFacts facts = {.agents = {},
                        .codec = choice.codec,
                        .collective = choice.collective,
                        .exchange_s = cost.exchange_s};
    for (const char* id : {"a", "b"}) {
      facts.agents.push_back({.id = id, .compute_s = 0.05, .gain = plan_testing::heavy_tailed()});
      for (const std::string& spec : asked) {
        facts.agents.back().tried[spec] = spec == "threelc:s=1" ? 0.4 : 0.98;
      }
    }
    asked.clear();
    played_s += cost.round_s;
    planner.round_over(facts);
    Result<std::optional<Planned>> planned = planner.think(links, policy);
    ASSERT_TRUE(planned.ok()) << planned.status().text();
    if (!*planned) continue;
    choice = (*planned)->decision.chosen.choice;
    cost = (*planned)->decision.chosen.cost;
    asked = (*planned)->decision.trials;
    spent_s += (*planned)->decision.trial_s;
    made.push_back(**std::move(planned));
  }
  ASSERT_GE(made.size(), 3u);
  EXPECT_EQ(made.front().decision.chosen.choice.codec, "threelc:s=1");
  EXPECT_EQ(made[1].decision.trigger, wire::Trigger::exploration);
  const auto corrected = std::ranges::find(made, wire::Trigger::gain_changed,
                                           [](const Planned& one) { return one.decision.trigger; });
  ASSERT_NE(corrected, made.end());
  EXPECT_TRUE(corrected->decision.switched);
  EXPECT_NE(corrected->decision.chosen.choice.codec, "threelc:s=1");
  EXPECT_THAT(
      corrected->decision.reason,
      HasSubstr("trials of threelc:s=1 kept 40 % of the updates instead of the expected 99 %"));
  EXPECT_NE(choice.codec, "threelc:s=1");
  EXPECT_LE(made.size(), 6u) << "what is known is not tried again and again";
  EXPECT_LE(spent_s, kShareOfTime * played_s);
  for (const Planned& one : made) {
    const Result<PlanInputs> inputs = parse_plan_inputs(text_of(one.inputs));
    ASSERT_TRUE(inputs.ok()) << inputs.status().text();
    const PlanDecision again = decided_now(*inputs);
    EXPECT_EQ(again.trigger, one.decision.trigger);
    EXPECT_EQ(again.chosen, one.decision.chosen);
    EXPECT_EQ(again.trials, one.decision.trials);
    EXPECT_EQ(again.trial_s, one.decision.trial_s);
    EXPECT_EQ(again.reason, one.decision.reason);
  }
}

// Differences between gains below gain_min cannot change the choice.
TEST(PlanTrials, GainsThatAreTooSmallToBeChosenAreNoReasonToChooseAgain) {
  PlanInputs inputs = long_in_force();
  inputs.rounds_unasked = 0;
  inputs.before->gains["threelc:s=1"] = 0.01;
  for (PlanAgent& agent : inputs.agents) agent.tried["threelc:s=1"] = 0.04;
  EXPECT_EQ(decided_now(inputs).trigger, wire::Trigger::unchanged);
  for (PlanAgent& agent : inputs.agents) agent.tried["threelc:s=1"] = 0.06;
  EXPECT_EQ(decided_now(inputs).trigger, wire::Trigger::gain_changed);
}

// A restarted planner continues with the stored results of trials.
TEST(PlanTrials, EarlierTrialsAreRestored) {
  const PlannerConfig config = {.values = 1u << 20, .codecs = federation(10, 5).codecs};
  PlanInputs inputs = long_in_force();
  inputs.agents.resize(2);
  inputs.before->agents = 2;
  inputs.agents[0].name = "a";
  inputs.agents[1].name = "b";
  try_all(inputs, 7);
  inputs.tried.pop_back();
  const PlanDecision decision = decided_now(inputs);
  ASSERT_FALSE(decision.trials.empty());
  Planner planner(config);
  planner.resume({.decision = decision, .inputs = inputs});
  RoundFacts facts;
  for (const char* id : {"a", "b"}) {
    facts.agents.push_back({.id = id, .compute_s = 0.05, .gain = plan_testing::heavy_tailed()});
  }
  planner.round_over(facts);
  PlanLinks links;
  links.agents["a"] =
      links.agents["b"] = {.alpha_s = 0.5, .beta_s_per_byte = 1e-5, .down_beta_s_per_byte = 1e-5};
  for (int i = 0; i < 10; ++i) {
    const Result<std::optional<Planned>> planned =
        planner.think(links, {.dwell_rounds = 0, .exploring_share = kShareOfTime});
    ASSERT_TRUE(planned.ok());
    if (!*planned) continue;
    EXPECT_EQ((*planned)->inputs.agents[0].tried, inputs.agents[0].tried);
    ASSERT_EQ((*planned)->inputs.tried.size(), inputs.tried.size());
    EXPECT_EQ((*planned)->inputs.tried[0].rounds, 8u);
    EXPECT_EQ((*planned)->inputs.asked_in_vain, 1u);
    return;
  }
  FAIL() << "nothing was decided";
}

TEST(PlanTrials, NumbersThatCannotBeAreRefused) {
  PlanInputs inputs = long_in_force();
  inputs.agents[0].tried["fp16"] = 1.5;
  EXPECT_EQ(decide(inputs).status().code(), StatusCode::invalid_argument);
  inputs = long_in_force();
  inputs.tried.push_back({.spec = "fp16", .curve_gain = -1});
  EXPECT_EQ(decide(inputs).status().code(), StatusCode::invalid_argument);
  inputs = long_in_force();
  inputs.policy.exploring_share = 2;
  EXPECT_EQ(decide(inputs).status().code(), StatusCode::invalid_argument);
}

}  // namespace
}  // namespace tributary
