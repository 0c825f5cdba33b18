// Peer exchanges between processes that are connected by sockets.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>

#include "core/codec/registry.h"
#include "core/store/coordinator/run_file.h"
#include "tests/end_to_end/federation/federation.h"
#include "tests/end_to_end/federation/journals.h"

namespace tributary::end_to_end {
namespace {

FederationOptions options_for(const std::string& collective, std::uint64_t rounds) {
  return {.rounds = rounds,
          .coordinator_settings = {"job.collective=" + collective},
          .agent_settings = {"peers.endpoint=tcp://127.0.0.1:0"}};
}

// Number of rounds that were committed with this collective.
std::size_t rounds_by(Federation& federation, const std::string& collective) {
  return federation.coordinator()
      .lines_with({"round committed", "collective=" + collective + " "})
      .size();
}

// The rounds of which the journal says that an agent trained for them ahead.
using AheadByAgent = std::map<std::string, std::set<std::uint64_t>>;

AheadByAgent rounds_trained_ahead(Federation& federation, std::uint64_t last_round) {
  AheadByAgent rounds;
  const auto run = RunFile::open(federation.coordinator_journal());
  EXPECT_TRUE(run.ok()) << run.status().text();
  const auto reports = (*run)->agent_rounds((*run)->jobs()->at(0).job, 1, last_round);
  EXPECT_TRUE(reports.ok()) << reports.status().text();
  for (const AgentRoundRecord& report : *reports) {
    const auto* facts = flatbuffers::GetRoot<wire::Mechanisms>(report.mechanisms->data());
    if (facts->trained_ahead() == 1) rounds[report.agent_id].insert(report.id.round);
  }
  return rounds;
}

// The agents that have uploaded segments of the round's results, according to the journal.
std::set<std::string> uploaders_of(Federation& federation, std::uint64_t round) {
  std::set<std::string> uploaders;
  const auto run = RunFile::open(federation.coordinator_journal());
  EXPECT_TRUE(run.ok()) << run.status().text();
  const auto reports = (*run)->agent_rounds((*run)->jobs()->at(0).job, round, round);
  EXPECT_TRUE(reports.ok()) << reports.status().text();
  for (const AgentRoundRecord& report : *reports) {
    const auto* facts = flatbuffers::GetRoot<wire::Mechanisms>(report.mechanisms->data());
    if (facts->segments_uploaded() > 0) uploaders.insert(report.agent_id);
  }
  return uploaders;
}

class Peers : public testing::TestWithParam<const char*> {};

TEST_P(Peers, ExchangeByEveryCollective) {
  Federation federation(options_for(GetParam(), 6));
  federation.set_for_agent(0, "trainer.ahead=false");
  federation.start_all();
  federation.expect_all_end();
  federation.expect_sound();
  EXPECT_EQ(rounds_by(federation, GetParam()), 6u);
  // The first round has no exchange before it. The last one's report may come after its commit.
  const std::set<std::uint64_t> expected = {2, 3, 4, 5};
  EXPECT_EQ(rounds_trained_ahead(federation, 5),
            (AheadByAgent{{"agent-1", expected}, {"agent-2", expected}}));
  // Three buckets of 13 kB: each agent uploads a third of each.
  EXPECT_EQ(uploaders_of(federation, 3), (std::set<std::string>{"agent-0", "agent-1", "agent-2"}));
}

INSTANTIATE_TEST_SUITE_P(Collectives, Peers,
                         testing::Values("sharded_star", "ring", "tree", "halving_doubling",
                                         "all_gather"),
                         [](const auto& collective) { return std::string(collective.param); });

// A commit that overtakes a result leaves no time to train ahead, so not every round has to.
TEST(PeersOnTheirOwn, AgentsOfAStarTrainAheadToo) {
  Federation federation(options_for("star", 12));
  federation.set_for_agent(0, "trainer.ahead=false");
  federation.start_all();
  federation.expect_all_end();
  federation.expect_sound();
  EXPECT_EQ(rounds_by(federation, "star"), 12u);
  const AheadByAgent ahead = rounds_trained_ahead(federation, 11);
  EXPECT_FALSE(ahead.contains("agent-0"));
  EXPECT_TRUE(ahead.contains("agent-1"));
  EXPECT_TRUE(ahead.contains("agent-2"));
}

TEST(PeersOnTheirOwn, NeedNoEncryptionWhereNoOtherHasIt) {
  FederationOptions options = options_for("ring", 6);
  options.encrypted = false;
  Federation federation(options);
  federation.start_all();
  federation.expect_all_end();
  federation.expect_sound();
  EXPECT_EQ(rounds_by(federation, "ring"), 6u);
}

TEST(PeersOnTheirOwn, GoByTheStarWhereOneOfThemDoesNotListen) {
  FederationOptions options = options_for("ring", 6);
  // No agent has a peer endpoint; two of the three get one below.
  options.agent_settings.clear();
  Federation federation(options);
  for (const std::uint32_t agent : {0u, 2u}) {
    federation.set_for_agent(agent, "peers.endpoint=tcp://127.0.0.1:0");
  }
  federation.start_all();
  federation.expect_all_end();
  federation.expect_sound();
  EXPECT_EQ(rounds_by(federation, "star"), 6u);
}

// The address that the agent announces is wrong, so the other agents cannot reach it.
TEST(PeersOnTheirOwn, GoByTheStarWhereOneOfThemCannotBeReached) {
  Federation federation(options_for("ring", 6));
  federation.set_for_agent(1, "peers.advertise=tcp://127.0.0.1:1");
  federation.start_all();
  federation.expect_all_end();
  federation.expect_sound();
  EXPECT_EQ(rounds_by(federation, "star"), 6u);
}

// One codec of each kind: sums, sums after a maximum, sums that are encoded again, gathered values,
// values of one member's choice, factors, and three without a residual.
class Batches : public testing::TestWithParam<const char*> {};

// Number of rounds of which the journal says that they had this many exchanges.
std::size_t rounds_with_exchanges(Federation& federation, std::uint64_t rounds,
                                  std::uint32_t exchanges) {
  std::size_t found = 0;
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    const auto answer = nlohmann::json::parse(
        federation.ask({"job", "show", "test", "--round", std::to_string(round)}));
    const nlohmann::json& facts = answer["data"]["mechanisms"]["coordinator"];
    if (facts["exchanges"] == exchanges) ++found;
  }
  return found;
}

TEST_P(Batches, TakeSeveralExchangesForEachCommit) {
  FederationOptions options = options_for("ring", 12);
  options.codec = GetParam();
  options.coordinator_settings.emplace_back("job.exchanges_per_round=4");
  options.coordinator_settings.emplace_back("job.agents_min=2");
  options.agent_settings.emplace_back("trainer.train_ms=10");
  options.agent_settings.emplace_back("audit=true");
  Federation federation(options);
  federation.start_all();
  ASSERT_TRUE(federation.coordinator().logs({"round committed", "collective=ring "}));
  federation.kill_agent(1);
  federation.start_agent(1);
  federation.expect_all_end();
  // Rounds around the kill may use the star, so not all of them are by the ring.
  EXPECT_GT(rounds_by(federation, "ring"), 6u);
  EXPECT_EQ(rounds_with_exchanges(federation, 12, 4), rounds_by(federation, "ring"));
  // The account is only of codecs that conserve.
  EXPECT_TRUE(federation.agent(0).lines_with({"conservation violated"}).empty());
  const bool audited = !federation.agent(0).lines_with({"conservation holds"}).empty();
  EXPECT_EQ(audited, (*make_codec(GetParam()))->conserves());
  const Result<CoordinatorState> state = read_coordinator_journal(federation.coordinator_journal());
  ASSERT_TRUE(state.ok()) << state.status().text();
  const RestoredJob& job = state->jobs[0];
  const std::uint64_t hash =
      job.redo.empty() ? job.checkpoint.model_hash : job.redo.back().round.model_hash;
  for (std::uint32_t i = 0; i < 3; ++i) {
    const Result<AgentState> agent = read_agent_journal(federation.agent_journal(i));
    ASSERT_TRUE(agent.ok()) << agent.status().text();
    EXPECT_EQ(agent->replica->model_version, 12u);
    EXPECT_EQ(agent->replica->model_hash, hash);
    EXPECT_TRUE(agent->undecided.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Codecs, Batches,
                         testing::Values("fp32", "thc", "threelc", "topk:cr=0.1",
                                         "star_topk:cr=0.1", "powersgd", "dgc:cr=0.1", "signsgd",
                                         "qsgd"),
                         [](const auto& codec) {
                           const std::string spec = codec.param;
                           return spec.substr(0, spec.find(':'));
                         });

// At whatever moment it is killed, the job continues without the agent or when it has returned.
TEST(PeersOnTheirOwn, AMemberThatIsKilledAtRandomMomentsTakesNothingAlong) {
  std::mt19937 random(6);  // real time decides, so the seed does not make the test reproducible
  FederationOptions options = options_for("ring", 200);
  options.coordinator_settings.emplace_back("job.agents_min=2");
  options.agent_settings.emplace_back("trainer.train_ms=20");
  Federation federation(options);
  federation.start_all();
  for (int kill = 0; kill < 20; ++kill) {
    // Waits for a random time.
    EXPECT_FALSE(eventually([] { return false; }, std::chrono::microseconds(random() % 250'000)));
    ASSERT_TRUE(federation.coordinator().running()) << "the job is too short: kill " << kill;
    const std::uint32_t agent = static_cast<std::uint32_t>(random() % 3);
    federation.kill_agent(agent);
    federation.start_agent(agent);
  }
  federation.expect_all_end();
  federation.expect_sound();
  EXPECT_GT(rounds_by(federation, "ring"), 0u);
}

}  // namespace
}  // namespace tributary::end_to_end
