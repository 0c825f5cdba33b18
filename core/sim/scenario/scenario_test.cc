// Tests of scenario files: values, limits and unknown keys.
#include "core/sim/scenario/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tributary {
namespace {

using testing::HasSubstr;

// The error of a scenario that must not be accepted; empty if it is.
std::string refusal(std::string_view text) {
  const Result<Scenario> scenario = parse_scenario(text, "test.toml");
  return scenario.ok() ? "" : scenario.status().text();
}

// One value of each section. A fault without a count occurs once.
TEST(Scenario, ReadsEveryPart) {
  const Result<Scenario> scenario = parse_scenario(R"toml(
name = "small"
agents = 7
rounds = 9
[job]
buckets = 2
bucket_values = 128
codecs = ["fp32"]
agents_min = 2
[network]
delay_ms = [1, 2.5]
loss = 0.25
[machines]
skewed_clocks = 3
[faults]
until_round = 5
[faults.agent_kill]
count = 4
duration_ms = [10, 20]
[faults.partition]
)toml",
                                                   "test.toml");
  ASSERT_TRUE(scenario.ok()) << scenario.status().text();
  EXPECT_EQ(scenario->name, "small");
  EXPECT_EQ(scenario->agents, 7u);
  EXPECT_EQ(scenario->rounds, 9u);
  EXPECT_EQ(scenario->values(), 256u);
  EXPECT_EQ(scenario->job.policy.bucket_values_max, 128u);
  EXPECT_EQ(scenario->network.delay.high, 2.5);
  EXPECT_EQ(scenario->network.loss, 0.25);
  EXPECT_EQ(scenario->machines.skewed_clocks, 3u);
  EXPECT_EQ(scenario->faults_until_round, 5u);
  const auto& incidents = scenario->incidents;
  EXPECT_EQ(incidents[static_cast<std::size_t>(Incident::agent_kill)].count, 4u);
  EXPECT_EQ(incidents[static_cast<std::size_t>(Incident::partition)].count, 1u);
  EXPECT_EQ(incidents[static_cast<std::size_t>(Incident::garbage)].count, 0u);
}

// docs/simulation.md states these defaults.
TEST(Scenario, AFileWithOneKeyHasTheDocumentedDefaults) {
  const Result<Scenario> scenario = parse_scenario("rounds = 5", "test.toml");
  ASSERT_TRUE(scenario.ok()) << scenario.status().text();
  EXPECT_EQ(scenario->name, "test.toml");
  EXPECT_EQ(scenario->agents, 4u);
  EXPECT_EQ(scenario->rounds, 5u);
  EXPECT_EQ(scenario->progress_s, 60);
  EXPECT_EQ(scenario->job.buckets, 4u);
  EXPECT_EQ(scenario->job.bucket_values, 1024u);
  EXPECT_EQ(scenario->job.mode, "gradient");
  EXPECT_EQ(scenario->job.ratio_min, 1);
  const RoundPolicy& policy = scenario->job.policy;
  EXPECT_EQ(policy.codec, "fp32");
  EXPECT_TRUE(policy.codecs.empty());
  EXPECT_EQ(policy.collective, wire::Collective::star);
  EXPECT_EQ(policy.learning_rate, 1);
  EXPECT_EQ(policy.agents_min, 1u);
  EXPECT_EQ(policy.quorum_fraction, 0.5);
  EXPECT_EQ(policy.deadline_ms, 60'000u);
  const NetworkSettings& network = scenario->network;
  EXPECT_EQ(network.delay.low, 1);
  EXPECT_EQ(network.delay.high, 4);
  EXPECT_EQ(network.rate_mbit_s, 1000);
  EXPECT_EQ(network.loss + network.duplication + network.reordering + network.bit_flips, 0);
  EXPECT_EQ(scenario->machines.training.low, 5);
  EXPECT_EQ(scenario->machines.training.high, 30);
  EXPECT_EQ(scenario->machines.disk.low, 0.2);
  EXPECT_EQ(scenario->machines.disk.high, 2);
  EXPECT_EQ(scenario->machines.slow_agents + scenario->machines.skewed_clocks, 0u);
  for (const IncidentPlan& plan : scenario->incidents) EXPECT_EQ(plan.count, 0u);
}

// Rates are drawn per agent from a range; a step without a factor restores the full rate.
TEST(Scenario, ReadsRatesOfAgents) {
  const Result<Scenario> plain = parse_scenario("[network]\nrate_mbit_s = 8", "test.toml");
  ASSERT_TRUE(plain.ok());
  EXPECT_FALSE(plain->network.of_agents());
  const Result<Scenario> scenario = parse_scenario(R"toml(
[network]
stream = true
agent_delay_ms = [10, 20]
rate_up_mbit_s = [0.1, 2]
rate_down_mbit_s = [1, 1]
rate_steps = [{ seconds = [2, 20] }, { seconds = [1, 15], factor = [0.01, 0.1] }]
)toml",
                                                   "test.toml");
  ASSERT_TRUE(scenario.ok()) << scenario.status().text();
  const NetworkSettings& network = scenario->network;
  EXPECT_TRUE(network.of_agents());
  EXPECT_TRUE(network.stream);
  EXPECT_EQ(network.agent_delay.high, 20);
  ASSERT_TRUE(network.rate_up_mbit_s && network.rate_down_mbit_s);
  EXPECT_EQ(network.rate_up_mbit_s->low, 0.1);
  EXPECT_EQ(network.rate_down_mbit_s->high, 1);
  ASSERT_EQ(network.rate_steps.size(), 2u);
  EXPECT_EQ(network.rate_steps[0].seconds.high, 20);
  EXPECT_EQ(network.rate_steps[0].factor.low, 1) << "if it is left out";
  EXPECT_EQ(network.rate_steps[1].factor.high, 0.1);
}

// Paths are relative to the scenario file. A trace and drawn rates exclude one another.
TEST(Scenario, ReadsATraceBesideIt) {
  const std::string origin = std::string(TRIBUTARY_SCENARIOS) + "/test.toml";
  const std::string text = "[network]\ntrace = '../../docs/traces/c1.csv'\n";
  const Result<Scenario> scenario = parse_scenario(text, origin);
  ASSERT_TRUE(scenario.ok()) << scenario.status().text();
  ASSERT_TRUE(scenario->network.trace);
  EXPECT_EQ(scenario->network.trace->steps().size(), 4u);
  const Result<Scenario> both = parse_scenario(text + "rate_up_mbit_s = [1, 2]", origin);
  EXPECT_THAT(both.status().text(), HasSubstr("rate_up_mbit_s"));
  EXPECT_FALSE(parse_scenario("[network]\ntrace = 'nowhere.csv'", origin).ok());
}

// A stream delays messages in order, which only the links to a coordinator do.
TEST(Scenario, RefusesRatesOfAgentsThatMakeNoSense) {
  EXPECT_THAT(refusal("[network]\nrate_up_mbit_s = 3"), HasSubstr("[lowest, highest]"));
  EXPECT_THAT(refusal("[network]\nrate_up_mbit_s = [2, 1]"), HasSubstr("[lowest, highest]"));
  EXPECT_THAT(refusal("[network]\nrate_up_mbit_s = [0, 1]"), HasSubstr("0.001"));
  EXPECT_THAT(refusal("[network]\nrate_up_mbit = [1, 2]"), HasSubstr("'rate_up_mbit_s'"));
  EXPECT_THAT(refusal("[network]\nrate_steps = []"), HasSubstr("list of tables"));
  EXPECT_THAT(refusal("[network]\nrate_steps = [3]"), HasSubstr("list of tables"));
  EXPECT_THAT(refusal("[network]\nrate_steps = [{ second = [1, 2] }]"), HasSubstr("'seconds'"));
  EXPECT_THAT(refusal("[network]\nrate_steps = [{ factor = [0, 1] }]"), HasSubstr("factor"));
  EXPECT_THAT(refusal("[network]\nstream = 1"), HasSubstr("true or false"));
  EXPECT_THAT(refusal("[network]\nstream = true\n[job]\ncollective = 'ring'"), HasSubstr("star"));
}

// On every level, with the line.
TEST(Scenario, RefusesUnknownKeysWithTheNearestKnownOne) {
  EXPECT_THAT(refusal("agent = 4"), HasSubstr("'agents'"));
  EXPECT_THAT(refusal("[netwrok]\nloss = 0.1"), HasSubstr("'network'"));
  EXPECT_THAT(refusal("[network]\nlos = 0.1"), HasSubstr("'loss'"));
  EXPECT_THAT(refusal("[faults.agent_kil]\ncount = 1"), HasSubstr("'agent_kill'"));
  EXPECT_THAT(refusal("[faults.agent_kill]\ncounts = 1"), HasSubstr("'count'"));
  EXPECT_THAT(refusal("rounds = 3\n\n[job]\nbukets = 1"), HasSubstr("line 4"));
}

// Only top-k lets each agent keep another share, and only in a star.
TEST(Scenario, SharesOfTheirOwnAreForACodecThatHasThem) {
  const std::string job = "[job]\nratio_min = 0.01\n";
  const Result<Scenario> good = parse_scenario(job + "codecs = ['topk:cr=0.1']", "test.toml");
  ASSERT_TRUE(good.ok()) << good.status().text();
  EXPECT_EQ(good->job.ratio_min, 0.01);
  EXPECT_TRUE(good->job.policy.planning.planned());
  for (const std::string wrong :
       {"codecs = ['fp16']", "codecs = ['star_topk:cr=0.1']", "codecs = ['topk:cr=0.001']",
        "codecs = ['topk:cr=0.1', 'topk:cr=0.1']", "",
        "codecs = ['topk:cr=0.1']\ncollective = 'ring'"}) {
    EXPECT_THAT(refusal(job + wrong), HasSubstr("ratio_min")) << wrong;
  }
}

// Faults among peers are separate from those of the links to the coordinator.
TEST(Scenario, ReadsHowRoundsGoAmongPeers) {
  const Result<Scenario> star = parse_scenario("agents = 3", "test.toml");
  ASSERT_TRUE(star.ok());
  EXPECT_FALSE(star->by_peers());
  const Result<Scenario> peers = parse_scenario(
      "[job]\ncollective = 'halving_doubling'\n[faults.peer_break]\ncount = 2", "test.toml");
  ASSERT_TRUE(peers.ok()) << peers.status().text();
  EXPECT_EQ(peers->job.policy.collective, wire::Collective::halving_doubling);
  EXPECT_TRUE(peers->by_peers());
  EXPECT_EQ(peers->incidents[static_cast<std::size_t>(Incident::peer_break)].count, 2u);
  EXPECT_THAT(refusal("[job]\ncollective = 'rnig'"), HasSubstr("'ring'"));
  EXPECT_THAT(refusal("[job]\ncollective = 'unspecified'"), HasSubstr("star"));
  EXPECT_THAT(refusal("[job]\ncollectiv = 'ring'"), HasSubstr("'collective'"));
  EXPECT_THAT(refusal("[faults.peer_brake]"), HasSubstr("'peer_break'"));
}

TEST(Scenario, ReadsTheAggregatorInTheNetwork) {
  const Result<Scenario> network = parse_scenario(
      "agents = 5\n[job]\ncollective = 'in_network'\ncodecs = ['thc']\n[aggregator]\nslots = 3\n"
      "packet_values = 192\nloss = 0.02\n[faults.aggregator_kill]\ncount = "
      "2\n[faults.tampered_sums]",
      "test.toml");
  ASSERT_TRUE(network.ok()) << network.status().text();
  EXPECT_TRUE(network->in_network());
  EXPECT_EQ(network->clients(), 6u);
  EXPECT_EQ(network->aggregator.slots, 3u);
  EXPECT_EQ(network->aggregator.packet_values, 192u);
  EXPECT_EQ(network->aggregator.loss, 0.02);
  EXPECT_EQ(network->incidents[static_cast<std::size_t>(Incident::aggregator_kill)].count, 2u);
  EXPECT_EQ(network->incidents[static_cast<std::size_t>(Incident::tampered_sums)].count, 1u);
  EXPECT_THAT(refusal("[job]\ncollective = 'in_network'"), HasSubstr("thc"));
  EXPECT_THAT(refusal("[aggregator]\nslots = 0"), HasSubstr("from 1"));
  EXPECT_THAT(refusal("[aggregator]\npacket_values = 100"), HasSubstr("a multiple of 64"));
}

// A scenario that makes no sense would fail later in a way that looks like a bug.
TEST(Scenario, RefusesValuesOutOfBounds) {
  EXPECT_THAT(refusal("agents = 0"), HasSubstr("from 1"));
  EXPECT_THAT(refusal("agents = -3"), HasSubstr("-3"));
  EXPECT_THAT(refusal("agents = 'many'"), HasSubstr("whole number"));
  EXPECT_THAT(refusal("[network]\nloss = 0.9"), HasSubstr("0.5"));
  EXPECT_THAT(refusal("[network]\nloss = nan"), HasSubstr("number"));
  EXPECT_THAT(refusal("[network]\ndelay_ms = [5, 1]"), HasSubstr("lowest, highest"));
  EXPECT_THAT(refusal("[network]\ndelay_ms = 5"), HasSubstr("lowest, highest"));
  EXPECT_THAT(refusal("[job]\nmode = 'sideways'"), HasSubstr("gradient or delta"));
  EXPECT_THAT(refusal("[job]\nquorum_fraction = 2"), HasSubstr("quorum_fraction"));
  EXPECT_THAT(refusal("agents = 2\n[job]\nagents_min = 3"), HasSubstr("agents_min"));
  EXPECT_THAT(refusal("faults = 3"), HasSubstr("a table"));
}

// With the file's name and the line.
TEST(Scenario, SaysWhereTextIsNoToml) {
  EXPECT_THAT(refusal("agents = 2\nrounds ="), HasSubstr("test.toml, line 2"));
}

// The code distinguishes it from a file with a mistake.
TEST(Scenario, AMissingFileIsAnError) {
  EXPECT_EQ(read_scenario("nowhere/to/be/found.toml").status().code(), StatusCode::not_found);
}

}  // namespace
}  // namespace tributary
