// Runs the scenarios of tests/scenarios with a few seeds, and shows that every planted bug is
// detected.
#include "core/sim/simulation.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <ostream>
#include <vector>

#include "core/sim/machines/agent_host.h"
#include "core/sim/simulation_testing.h"

namespace tributary {
namespace {

// A scenario and the faults that must have happened after a few seeds of it.
struct Case {
  std::string scenario;
  std::vector<std::string> faults;
  // The codec sends values unchanged, and the updates' values have exact sums.
  bool exact = false;
  // Sessions end only by faults.
  bool sessions_last = false;
  friend std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.scenario; }
};

class Scenarios : public testing::TestWithParam<Case> {};

TEST_P(Scenarios, HoldTheInvariants) {
  const Scenario scenario = scenario_named(GetParam().scenario);
  const RunsReport report = run_some(scenario, {.seeds = 4, .repeat_every = 4});
  EXPECT_EQ(report.violations, 0u) << failures_of(report);
  EXPECT_EQ(report.seeds, 4u);
  EXPECT_EQ(report.repeated, 1u);
  EXPECT_EQ(report.rounds_committed, 4u * scenario.rounds);
  if (GetParam().exact) {
    EXPECT_EQ(report.conservation_error_max, 0);
  } else {
    EXPECT_GT(report.conservation_error_max, 0)
        << "a comparison that never sees rounding sees nothing";
  }
  if (GetParam().sessions_last) {
    EXPECT_EQ(report.budget.sessions_lost, 0u);
    EXPECT_GT(report.budget.checked, report.budget.exempt);
  }
  for (const std::string& fault : GetParam().faults) {
    EXPECT_TRUE(report.faults.contains(fault)) << fault << " has never fired";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Faults, Scenarios,
    testing::Values(
        Case{"calm", {}},
        Case{"power_cuts",
             {"agent_power_cut", "coordinator_power_cut", "lost_write", "torn_write"}},
        Case{"kills", {"agent_kill", "coordinator_kill", "kill_before_publish"}},
        Case{"bad_network",
             {"loss", "duplication", "reordering", "bit_flip", "partition", "cut_off", "slow_link",
              "delay", "replay"}},
        Case{"bad_disks", {"disk_full", "disk_failure", "failed_write", "failed_sync", "no_space"}},
        Case{"stragglers",
             {"straggler", "training_failure", "agent_leave", "late_join", "slow_clock",
              "fast_clock"}},
        Case{"slow_agent", {}}, Case{"hostile", {"lying_agent", "garbage", "twin_agent"}},
        Case{"own_ratios", {"agent_kill", "coordinator_kill", "loss", "straggler"}, true},
        Case{"thin", {"agent_kill", "coordinator_kill", "partition", "held_up"}, false, true},
        Case{"uneven_rates", {"agent_kill", "straggler", "late_join"}, false, true},
        Case{"collapsing", {"agent_kill", "partition", "held_up"}, false, true}),
    [](const testing::TestParamInfo<Case>& one) { return one.param.scenario; });

TEST(Simulation, AgentsWithALowerRatioSendLess) {
  Scenario scenario = scenario_named("own_ratios");
  scenario.incidents = {};
  scenario.network.loss = scenario.network.duplication = 0;
  const Result<SimReport> less = simulate(scenario, {});
  ASSERT_TRUE(less.ok() && less->violations == 0);
  scenario.job.ratio_min = 1;
  scenario.job.policy.planning = {};
  const Result<SimReport> all = simulate(scenario, {});
  ASSERT_TRUE(all.ok() && all->violations == 0);
  EXPECT_EQ(less->rounds_committed, all->rounds_committed);
  EXPECT_LT(less->bytes, all->bytes * 3 / 4);
}

TEST(Simulation, TheSameSeedEndsInTheSameStateAndAnotherInAnother) {
  const Scenario scenario = scenario_named("bad_network");
  const auto state = [&](std::uint64_t seed) {
    const Result<SimReport> report = simulate(scenario, {.seed = seed});
    EXPECT_TRUE(report.ok());
    return report.ok() ? report->state_hash : 0;
  };
  EXPECT_EQ(state(3), state(3));
  EXPECT_NE(state(3), state(4));
}

TEST(Simulation, WithoutFaultsNoneIsCounted) {
  const RunsReport report = run_some(scenario_named("calm"), {});
  EXPECT_TRUE(report.faults.empty());
  EXPECT_EQ(report.rounds_committed, 20u);
}

TEST(Simulation, CanBeStopped) {
  const Scenario scenario = scenario_named("calm");
  std::uint64_t seen = 0;
  SimOptions options;
  options.progress = [&](std::uint64_t rounds) {
    seen = rounds;
    return rounds < 3;
  };
  EXPECT_EQ(simulate(scenario, options).status().code(), StatusCode::cancelled);
  EXPECT_EQ(seen, 3u);
}

TEST(Simulation, AJobThatCannotGoOnIsAViolation) {
  Scenario scenario = scenario_named("calm");
  scenario.progress_s = 5;
  scenario.faults_until_s = 1;
  scenario.rounds = 1000;
  scenario.network.delay = {5000, 5000};  // longer than any deadline
  const RunsReport report = run_some(scenario, {});
  ASSERT_EQ(report.failed.size(), 1u);
  EXPECT_EQ(report.failed[0].violation.invariant, "progress");
}

// The codec's error is dropped, so no account of the updates is exact. The coordinator must still
// add the payloads that were sent, also if most of their bytes were sent in earlier rounds.
TEST(Simulation, UploadsOutliveTheirRoundsWithoutExactAccounts) {
  Scenario scenario = scenario_named("uneven_rates");
  scenario.incidents = {};
  scenario.rounds = 24;
  scenario.job.policy.codecs = {"qsgd"};
  scenario.job.policy.grace_ms = 50;  // late agents are not awaited
  const RunsReport report = run_some(scenario, {.seeds = 2, .repeat_every = 0});
  EXPECT_EQ(report.violations, 0u) << failures_of(report);
  EXPECT_EQ(report.rounds_committed, 2u * scenario.rounds);
  EXPECT_TRUE(report.notes.contains("agents_late.grace")) << "no stage closed without an agent";
}

// Payloads of several parts, on links that are fast enough for any protocol.
Scenario calm_with_a_large_model() {
  Scenario scenario = scenario_named("calm");
  scenario.rounds = 6;
  scenario.job.bucket_values = 65'536;
  scenario.job.policy.bucket_values_max = scenario.job.bucket_values;
  return scenario;
}

TEST(Simulation, WithoutFaultsEveryByteIsSentOnce) {
  const Result<SimReport> report = simulate(calm_with_a_large_model(), {});
  ASSERT_TRUE(report.ok() && report->violations == 0);
  EXPECT_GE(report->budget.checked, 8u * 2u * 6u) << "each agent and round, both directions";
  EXPECT_EQ(report->budget.exempt, 0u);
  EXPECT_EQ(report->budget.repeated, 0u);
  EXPECT_EQ(report->budget.sessions_lost, 0u);
  EXPECT_EQ(report->budget.times_max, 1);
  EXPECT_GT(report->budget.bytes, 6u * 8u * 100'000u);
}

TEST(Simulation, BytesThatAreSentTwiceAreAViolation) {
  const Result<SimReport> report =
      simulate(calm_with_a_large_model(), {.mutation = Mutation::repeat_payloads});
  ASSERT_TRUE(report.ok());
  ASSERT_FALSE(report->found.empty());
  EXPECT_EQ(report->found[0].invariant, "bytes");
}

TEST(DyadicUpdate, IsAFunctionOfItsAddressWithExactSums) {
  const SharedFloats update = dyadic_update(1, 2, 3, 100);
  EXPECT_EQ(*update, *dyadic_update(1, 2, 3, 100));
  EXPECT_NE(*update, *dyadic_update(1, 2, 4, 100));
  EXPECT_NE(*update, *dyadic_update(1, 3, 3, 100));
  EXPECT_NE(*update, *dyadic_update(2, 2, 3, 100));
  for (const float value : *update) {
    EXPECT_EQ(value * 1024.0f, static_cast<float>(static_cast<int>(value * 1024.0f)));
    EXPECT_LE(std::abs(value), 0.125f);
  }
}

// --- planted bugs --------------------------------------------------------------------------------

struct PlantedBug {
  Mutation mutation;
  std::string scenario;
  std::string invariant;
};

class PlantedBugs : public testing::TestWithParam<PlantedBug> {};

TEST_P(PlantedBugs, AreFoundWithinAHundredSeeds) {
  const PlantedBug& bug = GetParam();
  const Scenario scenario = scenario_named(bug.scenario);
  const RunsReport report = run_some(
      scenario,
      {.seeds = 100, .repeat_every = 0, .mutation = bug.mutation, .stop_at_violation = true});
  ASSERT_FALSE(report.failed.empty());
  EXPECT_EQ(report.failed[0].violation.invariant, bug.invariant) << failures_of(report);
}

INSTANTIATE_TEST_SUITE_P(
    Each, PlantedBugs,
    testing::Values(PlantedBug{Mutation::apply_before_commit, "kills", "commits"},
                    PlantedBug{Mutation::drop_straggler, "bad_network", "conservation"},
                    PlantedBug{Mutation::skip_residual_write, "kills", "conservation"},
                    PlantedBug{Mutation::skip_residual_write, "own_ratios", "conservation"},
                    PlantedBug{Mutation::vote_before_store, "peers", "commits"},
                    PlantedBug{Mutation::forget_error, "peers", "commits"},
                    PlantedBug{Mutation::repeat_payloads, "thin", "bytes"}),
    [](const testing::TestParamInfo<PlantedBug>& one) {
      const auto name = kMutationNames[static_cast<std::size_t>(one.param.mutation)];
      return fmt::format("{}_in_{}", name, one.param.scenario);
    });

}  // namespace
}  // namespace tributary
