// Tests of whole simulations with rounds in which the agents exchange among themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/sim/simulation_testing.h"

namespace tributary {
namespace {

Scenario peers_scenario() { return scenario_named("peers"); }

using Way = std::tuple<wire::Collective, std::string>;

class EveryWay : public testing::TestWithParam<Way> {};

TEST_P(EveryWay, HoldsTheInvariants) {
  Scenario scenario = peers_scenario();
  scenario.rounds = 30;
  scenario.faults_until_round = 24;
  scenario.job.policy.collective = std::get<0>(GetParam());
  scenario.job.policy.codecs = {std::get<1>(GetParam())};
  for (IncidentPlan& plan : scenario.incidents) plan.count = (plan.count + 1) / 2;
  const RunsReport report = run_some(scenario, {.seeds = 3, .repeat_every = 3});
  EXPECT_EQ(report.violations, 0u) << failures_of(report);
  EXPECT_EQ(report.repeated, 1u);
  EXPECT_EQ(report.rounds_committed, 3u * scenario.rounds);
  EXPECT_GT(rounds_by(report, std::get<0>(GetParam())), scenario.rounds / 2);
}

INSTANTIATE_TEST_SUITE_P(Cases, EveryWay,
                         testing::Combine(testing::Values(wire::Collective::ring,
                                                          wire::Collective::tree,
                                                          wire::Collective::all_gather,
                                                          wire::Collective::halving_doubling,
                                                          wire::Collective::sharded_star),
                                          testing::Values("fp32", "thc", "threelc", "gcomp",
                                                          "topk:cr=0.1", "star_topk:cr=0.1")),
                         [](const testing::TestParamInfo<Way>& one) {
                           const std::string& codec = std::get<1>(one.param);
                           return std::string(wire::EnumNameCollective(std::get<0>(one.param))) +
                                  "_" + codec.substr(0, codec.find(':'));
                         });

TEST(Peers, WithoutFaultsEveryRoundUsesPeersAgain) {
  Scenario scenario = peers_scenario();
  scenario.faults_until_round = 0;
  scenario.incidents = {};
  const RunsReport report = run_some(scenario, {.seeds = 2, .repeat_every = 1});
  EXPECT_EQ(report.violations, 0u) << failures_of(report);
  EXPECT_EQ(report.rounds_committed, 2u * scenario.rounds);
  EXPECT_GE(rounds_by(report, wire::Collective::ring), report.rounds_committed);
  EXPECT_GT(report.conservation_error_max, 0) << "what never sees rounding sees nothing";
}

// The coordinator is 20 ms away: report, commit and plan take two ways or more, in which the next
// training runs.
TEST(Peers, ATrainingAheadHidesTheTimeOfTheCommit) {
  Scenario scenario = peers_scenario();
  scenario.faults_until_round = 0;
  scenario.incidents = {};
  scenario.rounds = 20;
  scenario.network = {};
  scenario.network.delay = {20, 20};
  scenario.machines.training = {60, 60};
  std::vector<double> virtual_s;
  for (const std::uint32_t every : {0u, 1u}) {
    scenario.machines.train_ahead_every = every;
    const RunsReport report = run_some(scenario, {.seeds = 1, .repeat_every = 0});
    EXPECT_EQ(report.violations, 0u) << failures_of(report);
    EXPECT_EQ(rounds_by(report, wire::Collective::ring), scenario.rounds);
    virtual_s.push_back(report.virtual_s);
  }
  EXPECT_LT(virtual_s[1] + 0.03 * static_cast<double>(scenario.rounds), virtual_s[0]);
}

TEST(Peers, FaultsOfTheirConnectionsFire) {
  const RunsReport report = run_some(peers_scenario(), {.seeds = 4, .repeat_every = 2});
  EXPECT_EQ(report.violations, 0u) << failures_of(report);
  for (const char* fault : {"peer_break", "lying_peer", "half_open", "peer_cut"}) {
    EXPECT_TRUE(report.faults.contains(fault)) << fault << " has never fired";
  }
  EXPECT_GT(rounds_by(report, wire::Collective::ring), report.rounds_committed / 4);
  EXPECT_GT(rounds_by(report, wire::Collective::star), 0u);
}

// The residual on a member's disk differs from the one that the member uses.
TEST(Peers, AResidualThatWasNotWrittenIsNoticed) {
  const RunsReport report = run_some(peers_scenario(), {.seeds = 100,
                                                        .repeat_every = 0,
                                                        .mutation = Mutation::skip_residual_write,
                                                        .stop_at_violation = true});
  ASSERT_FALSE(report.failed.empty());
  // The check that detects it first depends on the run, and the run depends on the compiler.
  EXPECT_THAT(report.failed[0].violation.invariant, testing::AnyOf("commits", "conservation"))
      << failures_of(report);
}

}  // namespace
}  // namespace tributary
