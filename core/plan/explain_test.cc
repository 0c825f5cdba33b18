// Tests of explained decisions: bands of known worlds, candidates, groups of links, and the regret
// in hindsight.
#include "core/plan/explain.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/plan/inputs/inputs_testing.h"

namespace tributary {
namespace {

using plan_testing::believe_uplinks;
using plan_testing::federation;

// A federation whose uplinks have 1 to `worlds` Mbit/s, in one world each.
PlanInputs with_worlds(std::size_t worlds, std::size_t agents = 4) {
  PlanInputs inputs = federation(10, 10, agents);
  believe_uplinks(inputs, 1, worlds);
  return inputs;
}

PlanChoice chosen_for(const PlanInputs& inputs) {
  const Result<PlanDecision> decision = decide(inputs);
  EXPECT_TRUE(decision.ok()) << decision.status().text();
  return decision.ok() ? decision->chosen.choice : PlanChoice();
}

PlanExplanation explained(const PlanInputs& inputs) {
  Result<PlanExplanation> explanation = explain(inputs, chosen_for(inputs));
  EXPECT_TRUE(explanation.ok()) << explanation.status().text();
  return explanation.ok() ? *explanation : PlanExplanation();
}

// Of 40 equally probable values, two lie below the band and two above it.
TEST(Explain, BandsOfKnownWorlds) {
  const PlanExplanation explanation = explained(with_worlds(40));
  EXPECT_EQ(explanation.worlds, 40u);
  ASSERT_EQ(explanation.links.size(), 10u) << "four uplinks, four downlinks, peers, coordinator";
  const BelievedLink& uplink = explanation.links.front();
  EXPECT_EQ(text_of(uplink), "agent 0 uplink");
  EXPECT_NEAR(uplink.bits_per_s.low, 3e6, 1);
  EXPECT_NEAR(uplink.bits_per_s.median, 21e6, 1);
  EXPECT_NEAR(uplink.bits_per_s.high, 38e6, 1);
  const BelievedLink& downlink = explanation.links[4];
  EXPECT_EQ(downlink.kind, LinkKind::downlink);
  EXPECT_NEAR(downlink.bits_per_s.low, 10e6, 1);
  EXPECT_EQ(downlink.bits_per_s.low, downlink.bits_per_s.high) << "the same in all worlds";
  EXPECT_NEAR(downlink.alpha_s.median, 0.01, 1e-9);
  EXPECT_EQ(explanation.links[8].kind, LinkKind::peers);
  EXPECT_EQ(explanation.links[9].kind, LinkKind::coordinator);
}

TEST(Explain, AnUnlimitedCoordinatorAndUnreachablePeers) {
  PlanInputs inputs = with_worlds(4);
  inputs.peers_reachable = false;
  for (PlanWorld& world : inputs.worlds) world.hub_s_per_byte = 0;
  const PlanExplanation explanation = explained(inputs);
  ASSERT_EQ(explanation.links.size(), 9u);
  EXPECT_TRUE(explanation.links.back().unlimited());
  EXPECT_FALSE(explanation.links.front().unlimited());
  ASSERT_EQ(explanation.collectives.size(), 1u);
  EXPECT_EQ(explanation.collectives[0].name, "star");
}

TEST(Explain, FactorsOfCodecsAndCollectives) {
  PlanInputs inputs = with_worlds(4);
  for (PlanWorld& world : inputs.worlds) {
    world.cpu[2] = 3;
    world.size[3] = 0.5;
    for (std::size_t codec = 0; codec < inputs.codecs.size(); ++codec) {
      world.times[times_place(codec, wire::Collective::ring)] = 1.15;
    }
    world.times[times_place(0, wire::Collective::ring)] = 9;  // a pair that was used
    world.overhead_s = 0.02;
  }
  const PlanExplanation explanation = explained(inputs);
  ASSERT_EQ(explanation.codec_times.size(), inputs.codecs.size());
  EXPECT_EQ(explanation.codec_times[2].name, "thc:bits=4");
  EXPECT_EQ(explanation.codec_times[2].factor.median, 3);
  EXPECT_EQ(explanation.codec_sizes[3].factor.high, 0.5);
  EXPECT_EQ(explanation.overhead_s.median, 0.02);
  ASSERT_EQ(explanation.collectives.size(), kCollectives.size());
  EXPECT_EQ(explanation.collectives[2].name, "ring");
  EXPECT_EQ(explanation.collectives[2].factor.median, 1.15);
}

// The value of a candidate is relative to the best one on average, or to the choice in force.
TEST(Explain, TheChosenCandidateStandsFirst) {
  PlanInputs inputs = with_worlds(16);
  inputs.peers_reachable = false;
  const PlanChoice first = chosen_for(inputs);
  inputs.before = PlanBefore{.choice = first, .rounds = 10, .agents = 4};
  const PlanExplanation explanation = explained(inputs);
  ASSERT_GE(explanation.candidates.size(), 4u);
  const BelievedChoice& top = explanation.candidates.front();
  EXPECT_TRUE(top.chosen);
  EXPECT_EQ(top.option.choice, chosen_for(inputs));
  EXPECT_LE(top.round_s.low, top.round_s.median);
  EXPECT_LT(top.round_s.low, top.round_s.high) << "uplinks differ between the worlds";
  std::size_t in_force = 0;
  for (std::size_t i = 1; i < explanation.candidates.size(); ++i) {
    const BelievedChoice& candidate = explanation.candidates[i];
    EXPECT_FALSE(candidate.chosen);
    ASSERT_TRUE(candidate.value);
    if (i > 1) {
      EXPECT_LE(*candidate.value, *explanation.candidates[i - 1].value);
    }
    in_force += candidate.in_force ? 1 : 0;
  }
  EXPECT_EQ(in_force + (top.in_force ? 1 : 0), 1u);
}

// A reader of a plan knows the number of buckets, and not their planned size.
TEST(Explain, AChoiceIsFoundByItsNumberOfBuckets) {
  PlanInputs inputs = with_worlds(8);
  PlanChoice choice = chosen_for(inputs);
  const std::uint64_t planned = choice.bucket_values;
  choice.bucket_values = planned - 1;
  const Result<PlanExplanation> explanation = explain(inputs, choice);
  ASSERT_TRUE(explanation.ok()) << explanation.status().text();
  EXPECT_EQ(explanation->candidates.front().option.choice.bucket_values, planned);
}

TEST(Explain, AChoiceOutsideTheCandidatesIsExplainedToo) {
  const PlanInputs inputs = with_worlds(8);
  const PlanChoice slow = {.codec = "fp32", .bucket_values = 1000};
  const Result<PlanExplanation> explanation = explain(inputs, slow);
  ASSERT_TRUE(explanation.ok()) << explanation.status().text();
  EXPECT_EQ(explanation->candidates.front().option.choice.codec, "fp32");
  EXPECT_FALSE(explanation->candidates.front().value);
}

TEST(Explain, ErrorsNameWhatIsMissing) {
  PlanInputs inputs = with_worlds(8);
  const Result<PlanExplanation> other = explain(inputs, {.codec = "zip", .bucket_values = 1});
  EXPECT_EQ(other.status().code(), StatusCode::mismatch);
  inputs.worlds.clear();
  const Result<PlanExplanation> old = explain(inputs, {.codec = "fp32", .bucket_values = 1});
  EXPECT_EQ(old.status().code(), StatusCode::unsupported);
  EXPECT_NE(old.status().text().find("earlier release"), std::string::npos);
  inputs.agents.clear();
  EXPECT_EQ(explain(inputs, {}).status().code(), StatusCode::invalid_argument);
}

TEST(Explain, ManyLinksAreGroupedByTheirMedian) {
  PlanInputs inputs = with_worlds(4, 65);
  for (std::size_t i = 0; i < 65; ++i) {
    inputs.agents[i].name = fmt::format("agent-{}", i);
    for (PlanWorld& world : inputs.worlds) world.links[i].rate.up *= static_cast<double>(i + 1);
  }
  for (PlanWorld& world : inputs.worlds) world.summarize();
  const PlanExplanation explanation = explained(inputs);
  EXPECT_EQ(explanation.links.size(), 132u);
  EXPECT_EQ(grouped_links(explanation.links, 65).size(), 132u) << "none is left out";
  const std::vector<BelievedLink> grouped = grouped_links(explanation.links, 8);
  ASSERT_EQ(grouped.size(), 8u);
  EXPECT_EQ(text_of(grouped[0]), "slowest uplink (agent-64)");
  EXPECT_EQ(text_of(grouped[1]), "median uplink (agent-32)");
  EXPECT_EQ(text_of(grouped[2]), "fastest uplink (agent-0)");
  EXPECT_LT(grouped[0].bits_per_s.median, grouped[1].bits_per_s.median);
  EXPECT_EQ(text_of(grouped[6]), "agents' own network");
}

PlanHindsight judged(const PlanInputs& later, const PlanChoice& used) {
  const Result<std::optional<PlanHindsight>> judgement = hindsight(later, used);
  EXPECT_TRUE(judgement.ok() && *judgement) << judgement.status().text();
  return judgement.ok() && *judgement ? **judgement : PlanHindsight();
}

// All worlds are alike, so the decision takes the best choice on average.
TEST(Hindsight, NoRegretIfTheChoiceWasTheBest) {
  PlanInputs later = with_worlds(1);
  const PlanChoice used = chosen_for(later);
  const PlanHindsight judgement = judged(later, used);
  EXPECT_EQ(judgement.best.choice, used);
  EXPECT_EQ(judgement.regret_s, 0);
}

// The regret is the time of a round less that of as many rounds of the best choice as make the same
// progress.
TEST(Hindsight, RegretOfADenseChoiceOnAThinLink) {
  PlanInputs later = with_worlds(1);
  const PlanChoice dense = {.codec = "fp32", .bucket_values = later.values};
  const PlanHindsight judgement = judged(later, dense);
  EXPECT_EQ(judgement.used.choice, dense);
  EXPECT_NE(judgement.best.choice.codec, "fp32");
  EXPECT_GT(judgement.used.cost.round_s, 30) << "4 MiB at 1 Mbit/s";
  EXPECT_GT(judgement.regret_s, 20);
  EXPECT_NEAR(judgement.regret_s,
              judgement.used.cost.round_s -
                  judgement.best.cost.round_s * judgement.used.cost.gain / judgement.best.cost.gain,
              1e-9);
  const PlanExplanation explanation = explained(later);
  EXPECT_EQ((*hindsight(later, dense, explanation.candidates))->regret_s, judgement.regret_s);
}

// A later belief without worlds, without the codec, or with a time budget cannot judge.
TEST(Hindsight, IsEmptyIfTheLaterBeliefCannotJudge) {
  PlanInputs later = with_worlds(1);
  const PlanChoice used = chosen_for(later);
  EXPECT_FALSE(hindsight(later, {.codec = "zip", .bucket_values = 1})->has_value());
  PlanInputs budget = later;
  budget.policy.goal = wire::PlanGoal::time_budget;
  budget.policy.budget_s = 1000;
  EXPECT_FALSE(hindsight(budget, used)->has_value());
  later.worlds.clear();
  EXPECT_FALSE(hindsight(later, used)->has_value());
  later.agents.clear();
  EXPECT_FALSE(hindsight(later, used).ok());
}

}  // namespace
}  // namespace tributary
