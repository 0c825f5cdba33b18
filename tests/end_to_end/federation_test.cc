// Jobs that nothing disturbs, and beginnings and ends.
#include "tests/end_to_end/federation.h"

#include <gtest/gtest.h>

#include <csignal>

namespace tributary::end_to_end {
namespace {

TEST(Federation, ThreeAgentsTrainToTheEndWithIdenticalReplicas) {
  Federation federation({});
  federation.start_all();
  federation.expect_everybody_ends();
  federation.expect_sound();
}

TEST(Federation, AnAgentThatComesLateCatchesUp) {
  Federation federation({.rounds = 20, .coordinator_settings = {"job.agents_min=2"}});
  federation.start_coordinator();
  federation.start_agent(0);
  federation.start_agent(1);
  ASSERT_TRUE(federation.committed(3));
  federation.start_agent(2);
  federation.expect_everybody_ends();
  federation.expect_sound();
}

TEST(Federation, SigtermEndsEverybodyAndARestartGoesOn) {
  Federation federation({.rounds = 60, .agent_settings = {"trainer.train_ms=20"}});
  federation.start_all();
  ASSERT_TRUE(federation.committed(3));
  for (std::uint32_t i = 0; i < 3; ++i) federation.agent(i).signal(SIGTERM);
  federation.coordinator().signal(SIGTERM);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(federation.agent(i).wait(), 0);
    federation.kill_agent(i);
  }
  EXPECT_EQ(federation.coordinator().wait(), 0);
  federation.start_all();
  federation.expect_everybody_ends();
  federation.expect_sound();
}

TEST(Federation, AnAgentIsNotStartedTwiceOverOneJournal) {
  Federation federation({.rounds = 40, .agent_settings = {"trainer.train_ms=20"}});
  federation.start_all();
  ASSERT_TRUE(federation.committed(1));
  Process second(federation.agent_command(0), federation.path("second.log"));
  EXPECT_EQ(second.wait(), 22);
  EXPECT_FALSE(second.lines_with({"already_exists"}).empty());
  federation.expect_everybody_ends();
  federation.expect_sound();
}

}  // namespace
}  // namespace tributary::end_to_end
