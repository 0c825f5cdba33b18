// Processes are killed at any moment, and the job must end as if nothing had happened.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "tests/end_to_end/federation/federation.h"
#include "tests/end_to_end/federation/journals.h"
#include "tests/end_to_end/federation/relay.h"

namespace tributary::end_to_end {
namespace {

TEST(Kill, AnAgentInTheMiddleOfItsUploads) {
  // 40,000 values of 4 bytes at 400 kB/s: an upload takes about 0.4 s. It starts after the
  // contribution has been stored.
  Federation federation(
      {.rounds = 6, .parameters = 40'000, .agent_settings = {"link.shape_bytes_per_s=400000"}});
  federation.start_all();
  // Twice, because the second kill also tests the state after a recovery.
  for (const std::uint64_t round : {2u, 4u}) {
    ASSERT_TRUE(
        federation.agent(1).logs({"contribution stored", " round=" + std::to_string(round) + " "}));
    federation.kill_agent(1);
    federation.start_agent(1);
  }
  federation.expect_all_end();
  federation.expect_sound();
}

TEST(Kill, TheCoordinatorBetweenJournalAndPublication) {
  Federation federation({.rounds = 12});
  federation.start_all();
  for (const std::uint64_t round : {2u, 5u, 8u}) {
    ASSERT_TRUE(federation.committed(round));
    federation.coordinator().kill();
    federation.start_coordinator();
  }
  federation.expect_all_end();
  federation.expect_sound();
}

// The commit is in the journal, but no agent has received any of it: everything that the
// coordinator sends is dropped from the moment at which the agents train. They train after the plan
// has come, not ahead of it: without the plan no round would be committed.
TEST(Kill, TheCoordinatorWithAnUnpublishedCommit) {
  constexpr std::uint64_t kRounds = 30;
  Federation federation(
      {.rounds = kRounds, .agent_settings = {"trainer.train_ms=300", "trainer.ahead=false"}});
  federation.start_coordinator();
  Relay relay(federation.endpoint());
  for (std::uint32_t i = 0; i < 3; ++i) {
    federation.set_for_agent(i, "link.coordinator=" + relay.endpoint());
    federation.start_agent(i);
  }
  // Counts the rounds in which the kill came before any agent received the commit.
  int commits_lost = 0;
  for (std::uint64_t round = 2; round < kRounds && commits_lost < 2; round += 2) {
    const std::string this_round = fmt::format(" round={}", round);
    for (std::uint32_t i = 0; i < 3; ++i) {
      ASSERT_TRUE(federation.agent(i).logs({"training", this_round}));
    }
    relay.drop_downlink();
    if (!federation.coordinator().logs({"round committed", this_round + " "})) break;
    federation.coordinator().kill();
    const auto has_it = [&](std::uint32_t i) {
      return !federation.agent(i)
                  .lines_with({"model stored", fmt::format("model_version={} ", round)})
                  .empty();
    };
    if (!has_it(0) && !has_it(1) && !has_it(2)) ++commits_lost;
    relay.refuse();
    federation.start_coordinator();
    relay.heal();
  }
  relay.heal();
  // The relay may drop the connection too late; such rounds are not counted and are repeated.
  EXPECT_EQ(commits_lost, 2) << "the relay was too slow every time";
  federation.expect_all_end();
  federation.expect_sound();
}

TEST(Kill, TheCoordinatorAtRandomMoments) {
  std::mt19937 random(20);  // real time decides, so the seed does not make the test reproducible
  Federation federation({.rounds = 200, .agent_settings = {"trainer.train_ms=5"}});
  federation.start_all();
  for (int kill = 0; kill < 20; ++kill) {
    // Waits for a random time.
    EXPECT_FALSE(eventually([] { return false; }, std::chrono::microseconds(random() % 250'000)));
    ASSERT_TRUE(federation.coordinator().running()) << "the job is too short: kill " << kill;
    federation.coordinator().kill();
    federation.start_coordinator();
  }
  federation.expect_all_end();
  federation.expect_sound();
}

// The coordinator has the model, so the agent only loses its residual.
TEST(Kill, AnAgentWithADamagedJournalStartsAgain) {
  Federation federation({.rounds = 12, .agent_settings = {"trainer.train_ms=50"}});
  federation.start_all();
  ASSERT_TRUE(federation.agent(1).logs({"model stored", " model_version=3 "}));
  federation.kill_agent(1);
  std::fstream(federation.agent_journal(1), std::ios::in | std::ios::out | std::ios::binary)
      << "something else altogether";
  federation.start_agent(1);
  EXPECT_TRUE(federation.agent(1).logs({"the journal was damaged", ".damaged"}));
  federation.expect_all_end();
  const auto whole = read_agent_journal(federation.agent_journal(0));
  const auto anew = read_agent_journal(federation.agent_journal(1));
  ASSERT_TRUE(whole.ok() && anew.ok());
  ASSERT_TRUE(whole->replica && anew->replica);
  EXPECT_EQ(anew->replica->model_version, 12u);
  EXPECT_EQ(*anew->replica->model, *whole->replica->model);
}

// All vectors beside the agent's database are damaged. The agent says so and catches up.
TEST(Kill, AnAgentWithDamagedVectorsCatchesUp) {
  Federation federation({.rounds = 12,
                         .parameters = 20'000,
                         .codec = "thc:bits=4",
                         .agent_settings = {"trainer.train_ms=50"}});
  federation.start_all();
  ASSERT_TRUE(federation.agent(1).logs({"model stored", " model_version=3 "}));
  federation.kill_agent(1);
  const std::string vectors = federation.agent_journal(1) + "-vectors";
  std::ofstream(vectors, std::ios::in | std::ios::binary)
      << std::string(std::filesystem::file_size(vectors), '\xff');
  federation.start_agent(1);
  EXPECT_TRUE(federation.agent(1).logs({"the residual is dropped", "values_damaged="}));
  EXPECT_TRUE(federation.agent(1).logs({"the stored model is damaged"}));
  federation.expect_all_end();
  const auto whole = read_agent_journal(federation.agent_journal(0));
  const auto anew = read_agent_journal(federation.agent_journal(1));
  ASSERT_TRUE(whole.ok() && anew.ok());
  ASSERT_TRUE(whole->replica && anew->replica);
  EXPECT_EQ(anew->replica->model_version, 12u);
  EXPECT_EQ(*anew->replica->model, *whole->replica->model);
}

TEST(Kill, AllAtOnce) {
  Federation federation({.rounds = 10});
  federation.start_all();
  ASSERT_TRUE(federation.committed(4));
  federation.coordinator().kill();
  for (std::uint32_t i = 0; i < 3; ++i) federation.kill_agent(i);
  federation.start_all();
  federation.expect_all_end();
  federation.expect_sound();
}

// The agent behaves like a device that sleeps. Cut links are tested in cut_link_test.cc.
TEST(Kill, AnAgentSilentBeyondTheDeadlineIsExcludedAndReturns) {
  Federation federation({.rounds = 60,
                         .coordinator_settings = {"job.agents_min=2", "job.deadline_ms=1000",
                                                  "heartbeat.timeout_ms=1000"},
                         .agent_settings = {"trainer.train_ms=20"}});
  federation.start_all();
  ASSERT_TRUE(federation.coordinator().logs({"round committed", "contributors=3"}, 2));
  // A stopped process keeps its connections, but neither computes nor sends heartbeats.
  federation.agent(2).signal(SIGSTOP);
  EXPECT_TRUE(federation.coordinator().logs({"round committed", "contributors=2"}, 5));
  federation.agent(2).signal(SIGCONT);
  federation.expect_all_end();
  federation.expect_sound();
}

}  // namespace
}  // namespace tributary::end_to_end
