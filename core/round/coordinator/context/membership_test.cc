// Tests of the members of an epoch: which agents are members, which changes require a new epoch,
// and how weights are computed.
#include "core/round/coordinator/context/membership.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/round/coordinator/context/job_testing.h"

namespace tributary {
namespace {

using round_testing::JobTest;
using round_testing::small_job;

// A job without an epoch. Tests add agents and open epochs.
class MembershipTest : public JobTest {
 protected:
  explicit MembershipTest(wire::JobT job = small_job()) : JobTest(std::move(job)) {}

  std::vector<std::string> member_names() const {
    std::vector<std::string> names;
    for (const Membership::Member& one : membership_.members()) names.push_back(one.agent_id);
    return names;
  }
};

// --- the epoch ---

TEST_F(MembershipTest, AnEpochNumbersItsMembersByAgentId) {
  for (const char* agent_id : {"c", "a", "b"}) add_agent(agent_id);
  membership_.open(1);
  EXPECT_EQ(member_names(), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(membership_.member_of(*coordinator_.roster.by_agent("c")), 2u);
  EXPECT_EQ(membership_.session_of(1), coordinator_.roster.by_agent("b"));
}

TEST_F(MembershipTest, TheRecordOfAnEpochNamesItsMembersAndItsFirstRound) {
  open_epoch(2, 6);
  const EpochRecord& record = *membership_.epoch();
  EXPECT_EQ(record.job, 1u);
  EXPECT_EQ(record.first_round, 7u);
  ASSERT_EQ(record.members.size(), 2u);
  EXPECT_EQ(record.members[1].agent_id, "agent-001");
}

TEST_F(MembershipTest, TheNumberOfAnEpochIsNeverGivenTwice) {
  Membership restored(job_, 3);
  restored.saw_epoch(7);
  restored.saw_epoch(5);
  restored.open(1);
  EXPECT_EQ(restored.epoch_number(), 8u);
  restored.open(1);
  EXPECT_EQ(restored.epoch_number(), 9u);
}

TEST_F(MembershipTest, LeavingAgentsAndUnknownModelsAreNoMembers) {
  add_agent("a");
  add_agent("leaving").leaving = true;
  add_agent("unknown").synced = false;
  add_new_agent("new");
  add_agent("behind", 0);
  membership_.open(5);
  EXPECT_EQ(member_names(), (std::vector<std::string>{"a", "behind"}));
}

// --- changes ---

TEST_F(MembershipTest, ItHasChangedBeforeTheFirstEpoch) {
  EXPECT_TRUE(membership_.changed(0));
  open_epoch(2);
  EXPECT_FALSE(membership_.changed(0));
}

TEST_F(MembershipTest, ANewAgentIsAChangeOnceItIsReady) {
  open_epoch(2);
  AgentSession& third = add_new_agent("third");
  EXPECT_FALSE(membership_.changed(0));
  third.job = 1;
  third.synced = true;
  EXPECT_TRUE(membership_.changed(0));
}

TEST_F(MembershipTest, ALostMemberIsAChange) {
  open_epoch(2);
  coordinator_.roster.remove(member(1).conversation.session());
  EXPECT_TRUE(membership_.changed(0));
}

TEST_F(MembershipTest, AMemberThatTookAWholeModelIsAChange) {
  open_epoch(2);
  ++member(0).generation;
  EXPECT_TRUE(membership_.changed(0));
}

TEST_F(MembershipTest, AMemberThatIsOnlyBehindStays) {
  open_epoch(2, 3);
  member(0).version = member(0).commit_sent = 1;
  EXPECT_FALSE(membership_.changed(3));
  member(0).synced = false;
  EXPECT_FALSE(membership_.changed(3));
}

// --- weights ---

class WeightsTest : public MembershipTest {
 protected:
  static wire::JobT by_examples() {
    wire::JobT job = small_job();
    job.weighting = wire::Weighting::examples;
    return job;
  }
  WeightsTest() : MembershipTest(by_examples()) {}
};

TEST_F(WeightsTest, AreInProportionToTheAgentWithMostExamples) {
  open_epoch(3);
  EXPECT_EQ(membership_.weights(), (std::vector<double>{1, 1, 1}));
  membership_.count_examples("agent-000", 10);
  membership_.count_examples("agent-001", 40);
  membership_.open(1);
  EXPECT_EQ(membership_.weights(), (std::vector<double>{0.25, 1, 1}))
      << "the third has not reported";
  EXPECT_EQ(membership_.epoch()->members[0].weight, 0.25);
}

// A number of examples is what the agent says.
TEST_F(WeightsTest, CountUpToAMultipleOfTheMedian) {
  open_epoch(3);
  membership_.count_examples("agent-000", 100);
  membership_.count_examples("agent-001", std::uint64_t{1'000'000'000} * 1'000'000'000);
  membership_.count_examples("agent-002", 200);
  membership_.open(1);
  EXPECT_EQ(membership_.weights(), (std::vector<double>{100.0 / 200'000, 1, 200.0 / 200'000}));
  policy().weight_cap = 2;
  membership_.open(1);
  EXPECT_EQ(membership_.weights(), (std::vector<double>{0.25, 1, 0.5}));
}

TEST_F(WeightsTest, TheMedianOfTwoAgentsIsTheLowerNumber) {
  open_epoch(2);
  membership_.count_examples("agent-000", 10);
  membership_.count_examples("agent-001", 1'000'000);
  policy().weight_cap = 4;
  membership_.open(1);
  EXPECT_EQ(membership_.weights(), (std::vector<double>{0.25, 1}));
}

TEST_F(WeightsTest, ADifferentWeightIsAChange) {
  open_epoch(2);
  membership_.count_examples("agent-000", 10);
  membership_.count_examples("agent-001", 10);
  EXPECT_FALSE(membership_.changed(0));
  membership_.count_examples("agent-001", 20);
  EXPECT_TRUE(membership_.changed(0));
}

TEST_F(WeightsTest, AnAgentThatIsNotConnectedDoesNotReduceTheOthersWeights) {
  open_epoch(2);
  membership_.count_examples("agent-000", 10);
  membership_.count_examples("agent-001", 40);
  coordinator_.roster.remove(member(1).conversation.session());
  membership_.open(1);
  EXPECT_EQ(membership_.weights(), std::vector<double>{1});
}

TEST_F(MembershipTest, EqualWeightsIgnoreExamples) {
  open_epoch(2);
  membership_.count_examples("agent-000", 10);
  membership_.count_examples("agent-001", 40);
  EXPECT_FALSE(membership_.changed(0));
}

// --- announcements ---

TEST_F(MembershipTest, EachMemberReceivesItsIndexAndTheSumOfTheWeights) {
  open_epoch(3);
  membership_.announce(0);
  for (std::uint32_t i = 0; i < 3; ++i) {
    const auto received = sent<wire::MembershipT>(member(i));
    ASSERT_EQ(received.size(), 1u);
    EXPECT_EQ(received[0].agent_index, i);
    EXPECT_EQ(received[0].agents, 3u);
    EXPECT_EQ(received[0].weight_sum, 3);
    EXPECT_TRUE(received[0].members.empty()) << "members do not connect to one another";
  }
}

TEST_F(MembershipTest, MembersThatConnectToOneAnotherReceiveTheAddresses) {
  add_agent("a").endpoint = "tcp://a:1";
  add_agent("b").endpoint = "tcp://b:1";
  membership_.open(1);
  membership_.announce(77);
  const auto received = sent<wire::MembershipT>(member(0));
  ASSERT_EQ(received.size(), 1u);
  EXPECT_EQ(received[0].peer_session, 77u);
  ASSERT_EQ(received[0].members.size(), 2u);
  EXPECT_EQ(received[0].members[1]->endpoints[0]->address, "tcp://b:1");
}

// --- sessions ---

TEST_F(MembershipTest, AMemberThatResumesKeepsItsIndex) {
  open_epoch(2);
  const std::uint64_t before = member(1).conversation.session();
  member(1).generation = 0;
  coordinator_.roster.remove(before);
  AgentSession& again = add_agent("agent-001");
  EXPECT_FALSE(membership_.member_of(again)) << "not before it has resumed";
  EXPECT_EQ(membership_.resume(again, before), 1u);
  EXPECT_EQ(membership_.member_of(again), 1u);
  EXPECT_EQ(membership_.session_of(1), &again);
  EXPECT_FALSE(membership_.changed(0));
}

TEST_F(MembershipTest, ASessionThatContinuesAnotherOneDoesNotResume) {
  open_epoch(1);
  const std::uint64_t before = member(0).conversation.session();
  coordinator_.roster.remove(before);
  AgentSession& again = add_agent("agent-000");
  EXPECT_FALSE(membership_.resume(again, 0)) << "the process is a new one";
  EXPECT_FALSE(membership_.resume(again, before + 5));
  EXPECT_FALSE(membership_.resume(add_agent("stranger"), before));
}

// --- participation ---

TEST_F(MembershipTest, ReadyAgentsHaveTheModelOrItsCommit) {
  add_agent("current", 4);
  add_agent("commit sent", 3).commit_sent = 4;
  add_agent("behind", 3);
  EXPECT_EQ(membership_.ready_agents(4), 2);
  EXPECT_TRUE(membership_.some_catch_up(4, [](const std::string&) { return false; }));
  coordinator_.roster.by_agent("behind")->commit_sent = 4;
  EXPECT_FALSE(membership_.some_catch_up(4, [](const std::string&) { return false; }));
}

TEST_F(MembershipTest, ARoundWaitsForALateAgentOnlyIfItIsPatientForIt) {
  add_agent("late", 3);
  bool uploads = false;
  const auto some_catch_up = [&] {
    return membership_.some_catch_up(4, [&](const std::string&) { return uploads; });
  };
  EXPECT_TRUE(some_catch_up());
  membership_.stragglers().missed("late", 0, false);
  EXPECT_FALSE(some_catch_up());
  for (std::uint64_t round = 1; round <= Stragglers::kRoundsWithoutMax; ++round) {
    membership_.stragglers().ended(round, 1'000);
  }
  EXPECT_TRUE(some_catch_up());
  uploads = true;
  EXPECT_FALSE(some_catch_up());
}

TEST_F(MembershipTest, OnlyReadyMembersThatAreNotExcludedTakePart) {
  open_epoch(4, 2);
  member(1).version = member(1).commit_sent = 1;
  Bitmap excluded(4);
  excluded.set(3);
  membership_.exclude(excluded);
  const Bitmap drawn = membership_.participants(3);
  EXPECT_EQ(drawn.count(), 2u);
  EXPECT_TRUE(drawn.test(0) && drawn.test(2));
  membership_.exclude({});
  EXPECT_TRUE(membership_.participants(3).test(3));
}

TEST_F(MembershipTest, ANewEpochExcludesNoAgent) {
  open_epoch(2);
  membership_.exclude(Bitmap(2, true));
  membership_.open(1);
  EXPECT_EQ(membership_.participants(1).count(), 2u);
}

TEST_F(MembershipTest, AFractionDrawsItsCeilingAndNeverFewerThanTheLeast) {
  open_epoch(5);
  policy().fraction = 0.5;
  EXPECT_EQ(membership_.participants(1).count(), 3u);
  policy().agents_min = 4;
  EXPECT_EQ(membership_.participants(1).count(), 4u);
  policy().agents_min = 9;
  EXPECT_EQ(membership_.participants(1).count(), 5u);
}

TEST_F(MembershipTest, ARoundIsTriedWithTheSameParticipantsAndAnotherRoundWithOthers) {
  open_epoch(8);
  policy().fraction = 0.25;
  std::set<std::vector<std::uint8_t>> draws;
  for (std::uint64_t round = 1; round <= 10; ++round) {
    for (std::uint32_t i = 0; i < 8; ++i) member(i).version = member(i).commit_sent = round - 1;
    const Bitmap drawn = membership_.participants(round);
    EXPECT_EQ(membership_.participants(round), drawn);
    draws.insert(drawn.bytes());
  }
  EXPECT_GT(draws.size(), 3u);
}

// An excluded participant is replaced; the others stay.
TEST_F(MembershipTest, AnExcludedParticipantIsReplacedByAnother) {
  open_epoch(8);
  policy().fraction = 0.5;
  const Bitmap before = membership_.participants(1);
  Bitmap excluded(8);
  for (std::uint32_t i = 0; i < 8 && excluded.count() == 0; ++i) {
    if (before.test(i)) excluded.set(i);
  }
  membership_.exclude(excluded);
  const Bitmap after = membership_.participants(1);
  EXPECT_EQ(after.count(), 4u) << "the ceiling of half of seven";
  std::uint32_t same = 0;
  for (std::uint32_t i = 0; i < 8; ++i) same += before.test(i) && after.test(i) ? 1u : 0u;
  EXPECT_EQ(same, 3u);
}

}  // namespace
}  // namespace tributary
