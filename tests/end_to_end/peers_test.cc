// Agents that exchange among themselves, as processes with sockets between them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <random>
#include <string>

#include "tests/end_to_end/federation.h"

namespace tributary::end_to_end {
namespace {

FederationOptions options_for(const std::string& collective, std::uint64_t rounds) {
  return {.rounds = rounds,
          .coordinator_settings = {"job.collective=" + collective},
          .agent_settings = {"peers.endpoint=tcp://127.0.0.1:0"}};
}

std::size_t rounds_by(Federation& federation, const std::string& collective) {
  return federation.coordinator()
      .lines_with({"round committed", "collective=" + collective + " "})
      .size();
}

class Peers : public testing::TestWithParam<const char*> {};

TEST_P(Peers, ExchangeByEveryCollective) {
  Federation federation(options_for(GetParam(), 6));
  federation.start_all();
  federation.expect_everybody_ends();
  federation.expect_sound();
  EXPECT_EQ(rounds_by(federation, GetParam()), 6u);
}

INSTANTIATE_TEST_SUITE_P(Collectives, Peers,
                         testing::Values("sharded_star", "ring", "tree", "halving_doubling",
                                         "all_gather"),
                         [](const auto& collective) { return std::string(collective.param); });

TEST(PeersOnTheirOwn, NeedNoEncryptionWhereNobodyElseHasIt) {
  FederationOptions options = options_for("ring", 6);
  options.encrypted = false;
  Federation federation(options);
  federation.start_all();
  federation.expect_everybody_ends();
  federation.expect_sound();
  EXPECT_EQ(rounds_by(federation, "ring"), 6u);
}

TEST(PeersOnTheirOwn, GoByTheStarWhereOneOfThemDoesNotListen) {
  FederationOptions options = options_for("ring", 6);
  options.agent_settings.clear();
  Federation federation(options);
  for (const std::uint32_t agent : {0u, 2u}) {
    federation.set_for_agent(agent, "peers.endpoint=tcp://127.0.0.1:0");
  }
  federation.start_all();
  federation.expect_everybody_ends();
  federation.expect_sound();
  EXPECT_EQ(rounds_by(federation, "star"), 6u);
}

// What it says of itself leads to nobody: the others cannot reach it.
TEST(PeersOnTheirOwn, GoByTheStarWhereOneOfThemCannotBeReached) {
  Federation federation(options_for("ring", 6));
  federation.set_for_agent(1, "peers.advertise=tcp://127.0.0.1:1");
  federation.start_all();
  federation.expect_everybody_ends();
  federation.expect_sound();
  EXPECT_EQ(rounds_by(federation, "star"), 6u);
}

// No moment is special: the job goes on with those that are left, or when it is back.
TEST(PeersOnTheirOwn, AMemberThatIsKilledAtRandomMomentsTakesNothingAlong) {
  std::mt19937 random(6);  // moments of this machine: the seed repeats little
  FederationOptions options = options_for("ring", 200);
  options.coordinator_settings.emplace_back("job.agents_min=2");
  options.agent_settings.emplace_back("trainer.train_ms=20");
  Federation federation(options);
  federation.start_all();
  for (int kill = 0; kill < 20; ++kill) {
    // Any moment will do.
    EXPECT_FALSE(eventually([] { return false; }, std::chrono::microseconds(random() % 250'000)));
    ASSERT_TRUE(federation.coordinator().running()) << "the job is too short: kill " << kill;
    const std::uint32_t agent = static_cast<std::uint32_t>(random() % 3);
    federation.kill_agent(agent);
    federation.start_agent(agent);
  }
  federation.expect_everybody_ends();
  federation.expect_sound();
  EXPECT_GT(rounds_by(federation, "ring"), 0u);
}

}  // namespace
}  // namespace tributary::end_to_end
