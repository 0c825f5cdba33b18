// Tests of the memory of slow agents: when they are awaited again, and the patient rounds that an
// always late agent gets.
#include "core/round/coordinator/context/stragglers.h"

#include <gtest/gtest.h>

#include <vector>

namespace tributary {
namespace {

TEST(Stragglers, AnAgentIsAwaitedAgainOnceItIsFastEnough) {
  Stragglers stragglers;
  stragglers.ended(1, 2'000);
  stragglers.missed("agent-0", 1, false);
  EXPECT_EQ(stragglers.missed_stage("agent-0"), 1u);
  EXPECT_FALSE(stragglers.missed_stage("agent-1"));
  stragglers.ended(2, 4'000);
  stragglers.contributed("agent-0", 1, 2'001);
  EXPECT_TRUE(stragglers.missed_stage("agent-0")) << "late for the round in which it was trained";
  stragglers.contributed("agent-0", 2, 4'000);
  EXPECT_FALSE(stragglers.missed_stage("agent-0"));
}

TEST(Stragglers, AnUpdateOfARoundLongAgoIsLate) {
  Stragglers stragglers;
  stragglers.missed("agent-0", 1, false);
  for (std::uint64_t round = 1; round <= 100; ++round) stragglers.ended(round, 1'000'000);
  stragglers.contributed("agent-0", 3, 5);
  EXPECT_TRUE(stragglers.missed_stage("agent-0"));
  stragglers.contributed("agent-0", 100, 5);
  EXPECT_FALSE(stragglers.missed_stage("agent-0"));
}

TEST(Stragglers, AnAgentThatNeverContributesGetsAPatientRoundNowAndThen) {
  Stragglers stragglers;
  std::vector<std::uint64_t> patient;
  for (std::uint64_t round = 1; round <= 100; ++round) {
    const bool waits = stragglers.needs_patience("agent-0", false);
    if (waits) patient.push_back(round);
    stragglers.ended(round, waits ? 0 : 1'000);
    stragglers.missed("agent-0", 0, waits);
  }
  EXPECT_EQ(patient, (std::vector<std::uint64_t>{12, 35, 80})) << "after 11, 22 and 44 rounds";
  EXPECT_FALSE(stragglers.needs_patience("agent-1", false));
}

TEST(Stragglers, AnAgentThatUploadsGetsItsPatientRoundLater) {
  Stragglers stragglers;
  for (std::uint64_t round = 1; round <= 43; ++round) {
    stragglers.ended(round, 1'000);
    stragglers.missed("agent-0", 0, false);
    EXPECT_FALSE(stragglers.needs_patience("agent-0", true)) << round;
  }
  EXPECT_TRUE(stragglers.needs_patience("agent-0", false)) << "if its upload is dropped";
  stragglers.ended(44, 1'000);
  EXPECT_TRUE(stragglers.needs_patience("agent-0", true));
}

TEST(Stragglers, AContributionInAPatientRoundIsStillLate) {
  Stragglers stragglers;
  stragglers.missed("agent-0", 0, false);
  for (std::uint64_t round = 1; round <= 11; ++round) stragglers.ended(round, 1'000);
  EXPECT_TRUE(stragglers.needs_patience("agent-0", false));
  stragglers.ended(12, 0);
  stragglers.contributed("agent-0", 12, 500);
  EXPECT_TRUE(stragglers.missed_stage("agent-0"));
  EXPECT_FALSE(stragglers.needs_patience("agent-0", false));
}

TEST(Stragglers, AgentsThatHaveLeftAreForgotten) {
  Stragglers stragglers;
  stragglers.missed("agent-0", 1, false);
  stragglers.missed("agent-1", 0, false);
  stragglers.keep_only([](const std::string& agent_id) { return agent_id == "agent-1"; });
  EXPECT_FALSE(stragglers.missed_stage("agent-0"));
  EXPECT_TRUE(stragglers.missed_stage("agent-1"));
}

}  // namespace
}  // namespace tributary
