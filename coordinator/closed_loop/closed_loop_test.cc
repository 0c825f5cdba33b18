#include "coordinator/closed_loop/closed_loop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "coordinator/closed_loop/hindsight.h"
#include "coordinator/closed_loop/plan_runs.h"
#include "coordinator/closed_loop/truth/closed_loop_testing.h"
#include "coordinator/closed_loop/truth/true_rounds.h"
#include "core/sim/simulation.h"

namespace tributary {
namespace {

using closed_loop_testing::choice_of;
using closed_loop_testing::scenario_of;
using closed_loop_testing::steady;

PlanScenario scenario_named(const std::string& name) {
  Result<PlanScenario> scenario =
      read_plan_scenario(std::string(TRIBUTARY_SCENARIOS) + "/" + name + ".toml");
  EXPECT_TRUE(scenario.ok()) << scenario.status().text();
  return scenario.ok() ? *std::move(scenario) : PlanScenario();
}

// The goal is reached in a fraction of the time that dense rounds would take.
TEST(ClosedLoop, DecisionsMakeTheNextRounds) {
  for (const char* name : {"thin_alone", "steady_medium", "cliff"}) {
    PlanScenario scenario = scenario_named(name);
    scenario.goal = 60;
    if (scenario.uplinks.steps.size() > 1) scenario.uplinks.steps[0].seconds = 1;
    const TrueFederation federation = make_federation(scenario, 2);
    const Result<LoopResult> result = run_closed_loop(scenario, federation, 2);
    ASSERT_TRUE(result.ok()) << result.status().text();
    EXPECT_TRUE(result->reached) << name;
    EXPECT_FALSE(result->decisions.empty()) << name;
    EXPECT_LT(result->seconds,
              0.5 * play_fixed(scenario, federation,
                               choice_of("fp32", wire::Collective::star, 1u << 16), 2))
        << name;
  }
}

TEST(ClosedLoop, TheSeedDeterminesTheRun) {
  PlanScenario scenario = scenario_named("random");
  scenario.goal = 80;
  const auto run = [&](std::uint64_t seed) {
    return run_closed_loop(scenario, make_federation(scenario, seed), seed);
  };
  const Result<LoopResult> one = run(4);
  const Result<LoopResult> same = run(4);
  const Result<LoopResult> other = run(5);
  ASSERT_TRUE(one.ok() && same.ok() && other.ok());
  EXPECT_EQ(one->seconds, same->seconds);
  EXPECT_EQ(one->rounds, same->rounds);
  ASSERT_EQ(one->decisions.size(), same->decisions.size());
  for (std::size_t i = 0; i < one->decisions.size(); ++i) {
    EXPECT_EQ(one->decisions[i].choice, same->decisions[i].choice);
    EXPECT_EQ(one->decisions[i].reason, same->decisions[i].reason);
  }
  EXPECT_NE(one->seconds, other->seconds);
}

// Agents that come and go change the number of participants that the planner sees.
TEST(ClosedLoop, AgentsMayComeAndGo) {
  PlanScenario scenario = scenario_named("visitors");
  scenario.goal = 120;
  const Result<LoopResult> result = run_closed_loop(scenario, make_federation(scenario, 1), 1);
  ASSERT_TRUE(result.ok()) << result.status().text();
  EXPECT_TRUE(result->reached);
}

// A round among peers becomes slow because the agents' own network fell. The star is then tried,
// which a planner does not that takes the uplinks for slow.
TEST(ClosedLoop, TheStarIsUsedAfterTheAgentsNetworkFell) {
  const PlanScenario scenario = scenario_named("site_slows");
  for (const std::uint64_t seed : {std::uint64_t{1}, std::uint64_t{3}}) {
    const TrueFederation federation = make_federation(scenario, seed);
    const Result<LoopResult> result = run_closed_loop(scenario, federation, seed);
    ASSERT_TRUE(result.ok()) << result.status().text();
    EXPECT_LT(result->seconds,
              1.3 * play_fixed(scenario, federation,
                               choice_of("threelc", wire::Collective::star, 1u << 16), seed))
        << "seed " << seed;
  }
}

// The planner and the fixed choices have the same limits.
TEST(ClosedLoop, ChoicesAreLimitedToWhatTheScenarioAllows) {
  PlanScenario scenario = steady(0.5, 20);
  scenario.goal = 40;
  scenario.plan_codecs = {"fp16", "topk"};
  scenario.plan_collectives = {wire::Collective::ring};
  const auto outside = [](const PlanChoice& choice) {
    return choice.collective != wire::Collective::ring ||
           (choice.codec != "fp16" && choice.codec.substr(0, 5) != "topk:");
  };
  const std::vector<PlanChoice> fixed = fixed_choices(scenario);
  EXPECT_FALSE(fixed.empty());
  EXPECT_TRUE(std::ranges::none_of(fixed, outside));
  const Result<LoopResult> result = run_closed_loop(scenario, make_federation(scenario, 1), 1);
  ASSERT_TRUE(result.ok()) << result.status().text();
  ASSERT_FALSE(result->decisions.empty());
  for (const LoopDecision& decision : result->decisions) {
    EXPECT_FALSE(outside(decision.choice)) << decision.reason;
  }
}

TEST(ClosedLoop, StopsOnRequestAndAtItsLimit) {
  PlanScenario scenario = steady(10, 5);
  const TrueFederation federation = make_federation(scenario, 1);
  const Result<LoopResult> stopped = run_closed_loop(scenario, federation, 1, [] { return false; });
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.status().code(), StatusCode::cancelled);
  scenario.limit_s = 2;
  const Result<LoopResult> limited = run_closed_loop(scenario, federation, 1);
  ASSERT_TRUE(limited.ok());
  EXPECT_FALSE(limited->reached);
}

TEST(PlanRuns, EverySeedIsComparedWithFixedChoicesAndTheOracle) {
  PlanScenario scenario = scenario_named("c1");
  scenario.goal = 60;
  const Result<std::vector<PlanRun>> runs =
      run_plan_seeds(scenario, {.first_seed = 3, .seeds = 2, .threads = 2});
  ASSERT_TRUE(runs.ok()) << runs.status().text();
  ASSERT_EQ(runs->size(), 2u);
  EXPECT_EQ((*runs)[1].seed, 4u);
  for (const PlanRun& run : *runs) {
    EXPECT_LE(run.hindsight.oracle_s, run.best_fixed_s());
    EXPECT_LE(run.best_fixed_s(), run.median_fixed_s());
    ASSERT_FALSE(run.verified.empty());
    // The model of hindsight and played rounds differ by noise, and by less than choices do.
    EXPECT_LT(run.verified.front().error(), 0.1);
  }
  const Result<std::vector<PlanRun>> alone =
      run_plan_seeds(scenario, {.first_seed = 4, .seeds = 1, .hindsight = false});
  ASSERT_TRUE(alone.ok());
  EXPECT_EQ((*alone)[0].planner.seconds, (*runs)[1].planner.seconds) << "threads share nothing";
}

// The virtual time of a whole run of the production state machines and codecs.
double simulated_s(const char* codec, double rate_mbit_s, std::uint32_t rounds) {
  Scenario scenario;
  scenario.rounds = rounds;
  scenario.job.buckets = 8;
  scenario.job.bucket_values = 8192;
  scenario.job.policy.bucket_values_max = scenario.job.bucket_values;
  scenario.job.policy.codecs = {codec};
  scenario.job.policy.agents_min = 4;
  scenario.job.policy.deadline_ms = 600'000;
  scenario.job.policy.learning_rate = 0.125;
  scenario.network.delay = {10, 10};
  scenario.network.rate_mbit_s = rate_mbit_s;
  scenario.machines.training = {50, 50};
  const Result<SimReport> report = simulate(scenario, {});
  EXPECT_TRUE(report.ok()) << report.status().text();
  return report.ok() ? report->virtual_s : 0;
}

// A round of the truth takes as long as one in the whole simulator, which has no planner. The
// difference of two runs leaves out the agents' arrival and the last catching up.
class AgainstTheSimulator : public testing::TestWithParam<std::pair<const char*, double>> {};

TEST_P(AgainstTheSimulator, RoundsByTheStarTakeAsLong) {
  const auto [codec, rate_mbit_s] = GetParam();
  const double simulated_round_s =
      (simulated_s(codec, rate_mbit_s, 9) - simulated_s(codec, rate_mbit_s, 3)) / 6;
  PlanScenario scenario = steady(rate_mbit_s, 10);
  scenario.values = 8 * 8192;
  const TrueFederation federation = make_federation(scenario, 1);
  TrueRounds rounds(scenario, federation, 1);
  const PlanChoice choice = choice_of(codec, wire::Collective::star, 8192);
  // The simulator's links have no TCP, whose windows grow in the first round.
  const TrueRound first = rounds.play(choice, {}, 0);
  const TrueRound second = rounds.play(choice, {}, first.ends_s);
  const double round_s = second.ends_s - second.began_s;
  EXPECT_NEAR(round_s / simulated_round_s, 1, 0.12)
      << round_s << " s, simulated " << simulated_round_s << " s";
}

INSTANTIATE_TEST_SUITE_P(Cases, AgainstTheSimulator,
                         testing::Values(std::pair("fp32", 1.0), std::pair("fp32", 4.0),
                                         std::pair("fp32", 20.0), std::pair("fp16", 10.0)));

}  // namespace
}  // namespace tributary
