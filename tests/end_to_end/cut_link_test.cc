// A link that is cut for longer than a round's deadline, in each of the ways in which links fail.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/end_to_end/federation/federation.h"
#include "tests/end_to_end/federation/relay.h"

namespace tributary::end_to_end {
namespace {

// Three agents, the last one behind a relay. Two agents are enough for a round.
struct CutLink : ::testing::Test {
  void SetUp() override {
    federation.start_coordinator();
    relay = std::make_unique<Relay>(federation.endpoint());
    federation.set_for_agent(2, "link.coordinator=" + relay->endpoint());
    for (std::uint32_t i = 0; i < 3; ++i) federation.start_agent(i);
    ASSERT_TRUE(all_three(2));
  }

  bool all_three(std::size_t rounds) { return rounds_of("contributors=3", rounds); }
  // Waits longer than a deadline, until the other agents have continued without the third one.
  bool two_alone(std::size_t rounds) { return rounds_of("contributors=2", rounds); }
  bool rounds_of(const char* contributors, std::size_t more) {
    const std::size_t before =
        federation.coordinator().lines_with({"round committed", contributors}).size();
    return federation.coordinator().logs({"round committed", contributors}, before + more);
  }
  // Waits until the coordinator has given up the agent for this reason.
  bool lost(const char* reason) {
    return federation.coordinator().logs({"agent_gone", "source=agent-2", reason});
  }
  // The agent takes part again, and its updates are conserved.
  void expect_recovery() {
    EXPECT_TRUE(all_three(2)) << "it did not come back";
    federation.expect_all_end();
    federation.expect_sound();
  }

  // Enough rounds to outlast all cuts of a test. Deadline and heartbeat timeout are 1 s.
  Federation federation{{.rounds = 120,
                         .coordinator_settings = {"job.agents_min=2", "job.deadline_ms=1000",
                                                  "heartbeat.timeout_ms=1000"},
                         .agent_settings = {"trainer.train_ms=60"}}};
  std::unique_ptr<Relay> relay;
};

TEST_F(CutLink, ABlackHoleInBothDirections) {
  relay->swallow();
  EXPECT_TRUE(two_alone(4));
  EXPECT_TRUE(lost("reason=silent"));
  relay->heal();
  expect_recovery();
}

TEST_F(CutLink, OnlyTheUplinkIsLost) {
  relay->drop_uplink();
  EXPECT_TRUE(two_alone(4));
  EXPECT_TRUE(lost("reason=silent"));
  relay->heal();
  expect_recovery();
}

TEST_F(CutLink, ConnectionsAreResetAndRefused) {
  relay->refuse();
  EXPECT_TRUE(two_alone(4));
  EXPECT_TRUE(federation.agent(2).logs({"unreachable"}));
  const std::uint64_t before = relay->connections();
  relay->heal();
  expect_recovery();
  EXPECT_GT(relay->connections(), before);
}

// A router on the path has lost its table: the agent's connection is reset, the coordinator's is
// not.
TEST_F(CutLink, HalfOfTheConnectionOutlivesTheOther) {
  relay->swallow();
  EXPECT_TRUE(two_alone(2));
  relay->heal(true);
  expect_recovery();
  // More than two if the agent had already given up the connection itself.
  EXPECT_GE(relay->connections(), 2u);
}

TEST_F(CutLink, AgainAndAgain) {
  for (int i = 0; i < 3; ++i) {
    i % 2 == 0 ? relay->refuse() : relay->swallow();
    EXPECT_TRUE(two_alone(1));
    // With and without loss of the router's table.
    relay->heal(i == 1);
    EXPECT_TRUE(all_three(1));
  }
  expect_recovery();
}

}  // namespace
}  // namespace tributary::end_to_end
