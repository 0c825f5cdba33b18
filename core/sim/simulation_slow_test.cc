// Runs the scenarios with many seeds, and shows that every planted bug is found within a hundred.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/codec/registry.h"
#include "core/sim/simulation_testing.h"

namespace tributary {
namespace {

// The faults that a run of the mixed scenario counts: incidents, and faults of messages and writes.
constexpr std::array<std::string_view, 27> kEveryFault = {"agent_kill",
                                                          "agent_power_cut",
                                                          "coordinator_kill",
                                                          "coordinator_power_cut",
                                                          "kill_before_publish",
                                                          "partition",
                                                          "slow_link",
                                                          "agent_leave",
                                                          "late_join",
                                                          "straggler",
                                                          "training_failure",
                                                          "disk_full",
                                                          "disk_failure",
                                                          "lying_agent",
                                                          "garbage",
                                                          "twin_agent",
                                                          "replay",
                                                          "loss",
                                                          "duplication",
                                                          "reordering",
                                                          "bit_flip",
                                                          "cut_off",
                                                          "delay",
                                                          "lost_write",
                                                          "torn_write",
                                                          "slow_clock",
                                                          "fast_clock"};

void expect_mixed_faults_hold(std::uint64_t first_seed, std::uint64_t seeds) {
  const Scenario scenario = scenario_named("mixed");
  const RunsReport report =
      run_some(scenario, {.first_seed = first_seed, .seeds = seeds, .repeat_every = seeds / 2});
  EXPECT_EQ(report.violations, 0u) << failures_of(report);
  EXPECT_EQ(report.rounds_committed, seeds * scenario.rounds);
  EXPECT_EQ(report.repeated, 2u);
  for (const std::string_view fault : kEveryFault) {
    EXPECT_TRUE(report.faults.contains(fault)) << fault << " has never fired";
  }
  for (const auto& [fault, runs] : report.faults_missed) {
    ADD_FAILURE() << fault << " fired in " << runs << " of " << seeds << " runs";
  }
}

TEST(MixedFaults, HoldTheInvariantsOverManySeeds) { expect_mixed_faults_hold(1000, 8); }

TEST(MoreMixedFaults, HoldTheInvariantsOverManySeeds) { expect_mixed_faults_hold(1008, 24); }

constexpr std::array kAmongPeers = {wire::Collective::sharded_star, wire::Collective::ring,
                                    wire::Collective::tree, wire::Collective::halving_doubling,
                                    wire::Collective::all_gather};

class PeersOverManySeeds : public testing::TestWithParam<wire::Collective> {};

void expect_peers_hold(wire::Collective collective, std::uint64_t first_seed) {
  constexpr std::uint64_t kSeeds = 12;
  Scenario scenario = scenario_named("peers");
  scenario.job.policy.collective = collective;
  const RunsReport report =
      run_some(scenario, {.first_seed = first_seed, .seeds = kSeeds, .repeat_every = kSeeds / 2});
  EXPECT_EQ(report.violations, 0u) << failures_of(report);
  EXPECT_EQ(report.rounds_committed, kSeeds * scenario.rounds);
  EXPECT_EQ(report.repeated, 2u);
  EXPECT_GT(report.collectives.at(wire::EnumNameCollective(collective)),
            report.rounds_committed / 4);
  for (std::size_t kind = 0; kind < kIncidents; ++kind) {
    const auto incident = static_cast<Incident>(kind);
    // These need an aggregator in the network, which exchanges among peers have none of.
    if (incident == Incident::aggregator_kill || incident == Incident::tampered_sums) continue;
    const std::string_view fault = name(incident);
    EXPECT_TRUE(report.faults.contains(fault)) << fault << " has never fired";
  }
  for (const char* fault : {"half_open", "peer_cut", "loss", "bit_flip", "lost_write"}) {
    EXPECT_TRUE(report.faults.contains(fault)) << fault << " has never fired";
  }
}

TEST_P(PeersOverManySeeds, HoldTheInvariants) { expect_peers_hold(GetParam(), 2000); }

TEST_P(PeersOverManySeeds, HoldTheInvariantsOverTwelveMore) { expect_peers_hold(GetParam(), 2012); }

INSTANTIATE_TEST_SUITE_P(Each, PeersOverManySeeds, testing::ValuesIn(kAmongPeers),
                         [](const testing::TestParamInfo<wire::Collective>& one) {
                           return std::string(wire::EnumNameCollective(one.param));
                         });

class EveryCodec : public testing::TestWithParam<std::string> {};

void expect_codec_holds(const std::string& codec, std::uint64_t seed) {
  constexpr std::array<std::uint32_t, kAmongPeers.size()> kAgents = {9, 5, 8, 3, 2};
  for (std::size_t i = 0; i < kAmongPeers.size(); ++i) {
    const wire::Collective collective = kAmongPeers[i];
    SCOPED_TRACE(wire::EnumNameCollective(collective));
    Scenario scenario = scenario_named("peers");
    scenario.agents = kAgents[i];
    scenario.job.policy.agents_min = 2;
    scenario.job.buckets = 5;
    scenario.job.bucket_values = 333;
    scenario.job.policy.bucket_values_max = 333;
    scenario.rounds = 24;
    scenario.faults_until_round = 18;
    scenario.job.policy.collective = collective;
    scenario.job.policy.codecs = {codec};
    for (IncidentPlan& plan : scenario.incidents) plan.count = (plan.count + 2) / 3;
    const RunsReport report = run_some(scenario, {.first_seed = seed, .seeds = 1});
    EXPECT_EQ(report.violations, 0u) << failures_of(report);
    EXPECT_EQ(report.rounds_committed, scenario.rounds);
    EXPECT_TRUE(report.collectives.contains(wire::EnumNameCollective(collective)));
  }
}

TEST_P(EveryCodec, HoldsTheInvariantsAmongPeers) { expect_codec_holds(GetParam(), 3000); }

TEST_P(EveryCodec, HoldsTheInvariantsWithASecondSeed) { expect_codec_holds(GetParam(), 3001); }

std::vector<std::string> codec_names() {
  std::vector<std::string> names;
  for (const CodecFamily& family : codec_families()) names.emplace_back(family.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Each, EveryCodec, testing::ValuesIn(codec_names()),
                         [](const auto& one) { return one.param; });

// The large scenario, reduced to the time of a test.
void expect_many_agents_hold(std::uint32_t agents) {
  Scenario scenario = scenario_named("thousand");
  scenario.agents = agents;
  scenario.rounds = 20;
  scenario.faults_until_round = 16;
  for (IncidentPlan& plan : scenario.incidents) plan.count = (plan.count + 4) / 5;
  const RunsReport report = run_some(scenario, {});
  EXPECT_EQ(report.violations, 0u) << failures_of(report);
  EXPECT_EQ(report.rounds_committed, 20u);
}

TEST(ManyAgents, HoldTheInvariants) { expect_many_agents_hold(100); }

TEST(MoreAgents, HoldTheInvariants) { expect_many_agents_hold(300); }

class PlantedBugsInTheMix : public testing::TestWithParam<Mutation> {};

TEST_P(PlantedBugsInTheMix, AreFoundWithinAHundredSeeds) {
  const RunsReport report = run_some(
      scenario_named("mixed"),
      {.seeds = 100, .repeat_every = 0, .mutation = GetParam(), .stop_at_violation = true});
  EXPECT_FALSE(report.failed.empty());
}

INSTANTIATE_TEST_SUITE_P(Each, PlantedBugsInTheMix,
                         testing::Values(Mutation::apply_before_commit, Mutation::drop_straggler,
                                         Mutation::skip_residual_write),
                         [](const testing::TestParamInfo<Mutation>& one) {
                           return std::string(kMutationNames[static_cast<std::size_t>(one.param)]);
                         });

}  // namespace
}  // namespace tributary
