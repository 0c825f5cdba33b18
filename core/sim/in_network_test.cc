// Tests of whole simulations with rounds whose sums an aggregator in the network makes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/sim/simulation_testing.h"

namespace tributary {
namespace {

Scenario network_scenario() { return scenario_named("in_network"); }

// Without faults of processes and links. Packets are lost as the scenario says.
Scenario calm_scenario() {
  Scenario scenario = network_scenario();
  scenario.incidents = {};
  scenario.rounds = 20;
  scenario.faults_until_round = scenario.rounds;
  scenario.job.buckets = 2;
  scenario.network.loss = scenario.network.duplication = scenario.network.reordering = 0;
  scenario.network.bit_flips = 0;
  scenario.machines.skewed_clocks = 0;
  return scenario;
}

std::uint64_t notes_of(const RunsReport& report, const std::string& name) {
  const auto found = report.notes.find(name);
  return found == report.notes.end() ? 0 : found->second;
}
std::uint64_t faults_of(const RunsReport& report, const std::string& name) {
  const auto found = report.faults.find(name);
  return found == report.faults.end() ? 0 : found->second;
}
IncidentPlan& incident(Scenario& scenario, Incident kind) {
  return scenario.incidents[static_cast<std::size_t>(kind)];
}

TEST(InNetwork, WithoutFaultsEveryRoundIsSummedInTheNetwork) {
  const RunsReport report = run_some(calm_scenario(), {.seeds = 2, .repeat_every = 2});
  EXPECT_EQ(report.violations, 0u) << failures_of(report);
  EXPECT_EQ(report.rounds_committed, 40u);
  EXPECT_GE(rounds_by(report, wire::Collective::in_network), 40u);
  EXPECT_EQ(rounds_by(report, wire::Collective::star), 0u);
  EXPECT_GT(faults_of(report, "packet_loss"), 0u);
  EXPECT_GT(faults_of(report, "packet_repeat"), 0u);
  EXPECT_EQ(notes_of(report, "round_aborted.collective_failed"), 0u);
  EXPECT_GT(report.conservation_error_max, 0) << "what never sees rounding sees nothing";
}

// A bucket of 2,500 values has 40 chunks of 64.
TEST(InNetwork, AnAggregatorMayTakeFewValuesInAPacket) {
  Scenario scenario = calm_scenario();
  scenario.aggregator.packet_values = 64;
  scenario.aggregator.slots = 16;
  const RunsReport report = run_some(scenario, {.seeds = 2, .repeat_every = 0});
  EXPECT_EQ(report.violations, 0u) << failures_of(report);
  EXPECT_EQ(report.rounds_committed, 40u);
  EXPECT_GE(rounds_by(report, wire::Collective::in_network), 40u);
  EXPECT_EQ(rounds_by(report, wire::Collective::star), 0u);
}

TEST(InNetwork, AKilledAggregatorCostsOneAttempt) {
  Scenario scenario = calm_scenario();
  incident(scenario, Incident::aggregator_kill) = {.count = 1, .duration = {200, 200}};
  const RunsReport report = run_some(scenario, {.seeds = 4, .repeat_every = 0});
  EXPECT_EQ(report.violations, 0u) << failures_of(report);
  EXPECT_EQ(faults_of(report, "aggregator_kill"), 4u);
  EXPECT_GT(notes_of(report, "round_aborted.collective_failed"), 0u);
  EXPECT_LE(notes_of(report, "round_aborted.collective_failed"), 4u);
  EXPECT_GT(rounds_by(report, wire::Collective::in_network), 40u);
  EXPECT_GT(rounds_by(report, wire::Collective::star), 0u);
}

TEST(InNetwork, AnAggregatorThatStaysAwayLeavesTheStar) {
  Scenario scenario = calm_scenario();
  incident(scenario, Incident::aggregator_kill) = {.count = 1, .duration = {1e6, 1e6}};
  const RunsReport report = run_some(scenario, {.seeds = 1, .repeat_every = 0});
  EXPECT_EQ(report.violations, 0u) << failures_of(report);
  EXPECT_EQ(report.rounds_committed, 20u);
  EXPECT_LE(notes_of(report, "round_aborted.collective_failed"), 1u);
  EXPECT_GT(rounds_by(report, wire::Collective::star), 0u);
}

// The replay of each round compares the result with what the agents gave away, so a wrong sum that
// passed the linear check would be a violation.
TEST(InNetwork, TamperedSumsAreRefused) {
  Scenario scenario = calm_scenario();
  incident(scenario, Incident::tampered_sums).count = 6;
  const RunsReport report = run_some(scenario, {.seeds = 4, .repeat_every = 0});
  EXPECT_EQ(report.violations, 0u) << failures_of(report);
  EXPECT_EQ(report.rounds_committed, 80u);
  for (const char* kind : {"sum_one_more", "sum_high_bit", "sums_permuted", "sums_replayed"}) {
    EXPECT_GT(faults_of(report, kind), 0u) << kind;
  }
  EXPECT_GT(notes_of(report, "sums_refused.mismatch"), 0u);
  EXPECT_GT(rounds_by(report, wire::Collective::in_network), 20u);
}

// One of eight agents trains ten times as long. The first attempt finds out, the next one goes on
// without it, and every fourth round is the star's, to which it contributes. The ledger checks at
// every commit that what it trained is in a model or in its residual.
TEST(InNetwork, TheOthersAreSummedWithoutASlowAgent) {
  Scenario scenario = calm_scenario();
  scenario.agents = 8;
  scenario.rounds = 24;
  scenario.faults_until_round = scenario.rounds;
  scenario.job.policy.agents_min = 4;
  scenario.job.policy.grace_ms = 50;
  scenario.job.policy.deadline_ms = 10'000;
  scenario.job.policy.preliminary_deadline_ms = 5'000;
  scenario.machines.training = {80, 100};
  scenario.machines.slow_agents = 1;
  scenario.machines.slow_factor = 10;
  const RunsReport report = run_some(scenario, {.seeds = 2, .repeat_every = 0});
  EXPECT_EQ(report.violations, 0u) << failures_of(report);
  EXPECT_EQ(report.rounds_committed, 48u);
  EXPECT_GE(rounds_by(report, wire::Collective::in_network), 34u);
  EXPECT_GE(rounds_by(report, wire::Collective::star), 8u);
  EXPECT_GT(notes_of(report, "agents_late.grace"), 0u);
  EXPECT_EQ(notes_of(report, "exchange_overdue.deadline"), 0u);
}

TEST(InNetwork, HoldsTheInvariantsWithEveryFault) {
  Scenario scenario = network_scenario();
  scenario.rounds = 40;
  scenario.faults_until_round = 34;
  for (IncidentPlan& plan : scenario.incidents) plan.count = (plan.count + 1) / 2;
  const RunsReport report = run_some(scenario, {.seeds = 3, .repeat_every = 3});
  EXPECT_EQ(report.violations, 0u) << failures_of(report);
  EXPECT_EQ(report.rounds_committed, 3u * scenario.rounds);
  EXPECT_GT(rounds_by(report, wire::Collective::in_network), report.rounds_committed / 6);
  EXPECT_GT(rounds_by(report, wire::Collective::star), 0u);
}

// One packet in a hundred is lost, and each run has a kill of the aggregator, one of an agent, and
// wrong sums.
TEST(InNetworkOverManySeeds, SixtyFourAgentsHoldTheInvariants) {
  Scenario scenario = calm_scenario();
  scenario.agents = 64;
  scenario.rounds = 10;
  scenario.faults_until_round = 9;
  scenario.job.bucket_values = 1200;
  incident(scenario, Incident::aggregator_kill) = {.count = 1, .duration = {20, 500}};
  incident(scenario, Incident::agent_kill) = {.count = 1, .duration = {20, 500}};
  incident(scenario, Incident::tampered_sums).count = 1;
  const RunsReport report = run_some(scenario, {.seeds = 200, .repeat_every = 50});
  EXPECT_EQ(report.violations, 0u) << failures_of(report);
  EXPECT_EQ(report.rounds_committed, 200u * scenario.rounds);
  EXPECT_GT(faults_of(report, "packet_loss"), 0u);
  EXPECT_GT(notes_of(report, "sums_refused.mismatch"), 0u);
  EXPECT_GT(rounds_by(report, wire::Collective::in_network), report.rounds_committed / 3);
}

// The same with every fault, some of which happen in almost every round.
TEST(InNetworkOverManySeeds, SixtyFourAgentsHoldTheInvariantsWithEveryFault) {
  Scenario scenario = network_scenario();
  scenario.agents = 64;
  scenario.rounds = 10;
  scenario.faults_until_round = 8;
  scenario.job.buckets = 2;
  scenario.job.bucket_values = 1200;
  for (IncidentPlan& plan : scenario.incidents) plan.count = (plan.count + 3) / 4;
  const RunsReport report = run_some(scenario, {.seeds = 50, .repeat_every = 25});
  EXPECT_EQ(report.violations, 0u) << failures_of(report);
  EXPECT_EQ(report.rounds_committed, 50u * scenario.rounds);
  EXPECT_GT(rounds_by(report, wire::Collective::in_network), 0u);
}

}  // namespace
}  // namespace tributary
