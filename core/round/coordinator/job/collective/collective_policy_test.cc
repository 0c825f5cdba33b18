// Tests of the choice of a collective: deadlines, sums in the network with the epochs of an
// aggregator, and the star that stands in.
#include "core/round/coordinator/job/collective/collective_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/round/coordinator/context/job_testing.h"

namespace tributary {
namespace {

using round_testing::JobTest;
using round_testing::Packed;
using testing::HasSubstr;
using wire::Collective;

class CollectivePolicyTest : public JobTest {
 protected:
  CollectivePolicyTest() {
    policy().collective = Collective::in_network;
    policy().codec = "thc";
  }

  void open_members(std::uint32_t agents) {
    for (std::uint32_t i = 0; i < agents; ++i) {
      add_agent(fmt::format("agent-{:03}", i)).sums_in_network = true;
    }
    open_again();
  }
  void open_again() {
    membership_.open(1);
    collectives_.open(membership_);
  }
  AgentSession& add_aggregator(const std::string& id = "switch") {
    AgentSession& session = add_new_agent(id);
    session.run = 0;
    session.aggregator_slots = 1024;
    session.endpoint = "10.0.0.1:4650";
    return session;
  }
  NetworkPolicy& network() { return collectives_.network(); }
  void prepare() { prepare(Bitmap(membership_.size(), true)); }
  void prepare(const Bitmap& participants) {
    network().prepare(policy(), membership_, participants);
  }
  // The agent has missed a stage of the last round.
  void make_late(std::uint32_t member) {
    membership_.stragglers().missed(membership_.members()[member].agent_id, 0, false);
  }
  // The epochs that the aggregator was asked for since the last call.
  std::vector<wire::InstallEpochT> asked(AgentSession& aggregator) {
    std::vector<wire::InstallEpochT> found = sent<wire::InstallEpochT>(aggregator);
    forget_actions();
    return found;
  }
  // Agents and an aggregator with an installed epoch.
  AgentSession& install(std::uint32_t agents = 4) {
    open_members(agents);
    AgentSession& aggregator = add_aggregator();
    prepare();
    const auto messages = asked(aggregator);
    EXPECT_EQ(messages.size(), 1u);
    if (!messages.empty()) answer(aggregator, messages[0].epoch, true, messages[0].epoch);
    return aggregator;
  }
  void answer(AgentSession& aggregator, std::uint32_t epoch, bool installed,
              std::uint32_t highest) {
    wire::EpochInstalledT answer;
    answer.job = round_testing::kSmallJob;
    answer.epoch = epoch;
    answer.installed = installed;
    answer.epoch_highest = highest;
    answer.text = "no";
    network().receive(aggregator, *Packed(answer));
  }
  Collective chosen(std::uint64_t round, std::uint32_t prompt = 4) {
    reason_ = "unchanged";
    return collectives_.choose(policy(), {.prompt = prompt, .some_late = false}, round, reason_);
  }

  CollectivePolicy collectives_{job_};
  std::string reason_;
};

// --- epochs ---

TEST_F(CollectivePolicyTest, AnEpochThatIsAcknowledgedIsUsed) {
  open_members(4);
  AgentSession& aggregator = add_aggregator();
  prepare();
  const auto messages = asked(aggregator);
  ASSERT_EQ(messages.size(), 1u);
  const thc::NetworkTable table = *thc::network_table(*thc::network_codec("thc", 4), 4);
  EXPECT_EQ(messages[0].epoch, 1u);
  EXPECT_EQ(messages[0].agents, 4u);
  EXPECT_EQ(messages[0].granularity, table.granularity);
  EXPECT_EQ(messages[0].table, table.fingerprint);
  EXPECT_EQ(messages[0].slot_count, 512u);
  EXPECT_TRUE(network().waits(1));
  EXPECT_EQ(chosen(1), Collective::star);
  EXPECT_THAT(reason_, HasSubstr("has not installed the epoch yet"));
  answer(aggregator, 1, true, 1);
  EXPECT_FALSE(network().waits(1));
  EXPECT_EQ(chosen(1), Collective::in_network);
  EXPECT_EQ(reason_, "unchanged");
  const NetworkPolicy::Epoch epoch = network().epoch();
  EXPECT_EQ(epoch.aggregator, "10.0.0.1:4650");
  EXPECT_EQ(epoch.sums.handle, messages[0].handle);
  EXPECT_FALSE(epoch.sums.wide);
  EXPECT_NE(epoch.sums.check_secret, network().epoch().sums.check_secret);
  prepare();
  EXPECT_TRUE(asked(aggregator).empty());
}

// An agent of an earlier release sends 1,024 values in a packet.
TEST_F(CollectivePolicyTest, AnAggregatorOfFewValuesNeedsAgentsThatKnowIt) {
  open_members(4);
  AgentSession& aggregator = add_aggregator();
  aggregator.packet_values = 64;
  prepare();
  EXPECT_TRUE(asked(aggregator).empty());
  EXPECT_EQ(chosen(1), Collective::star);
  EXPECT_THAT(reason_, HasSubstr("agent-000 (build unknown) sends 1024 values in a packet, and the "
                                 "aggregator takes 64 at most"));
  for (std::uint32_t i = 0; i < 4; ++i) {
    coordinator_.roster.by_agent(fmt::format("agent-{:03}", i))->sizes_packets = true;
  }
  open_again();
  prepare();
  const auto messages = asked(aggregator);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].packet_values, 64u);
  answer(aggregator, messages[0].epoch, true, messages[0].epoch);
  EXPECT_EQ(chosen(1), Collective::in_network);
  EXPECT_EQ(network().epoch().sums.packet_values, 64u);
}

TEST_F(CollectivePolicyTest, AnAggregatorOfManyValuesNeedsNothingNew) {
  open_members(4);
  AgentSession& aggregator = add_aggregator();
  aggregator.packet_values = 1024;
  prepare();
  EXPECT_EQ(asked(aggregator).size(), 1u);
}

TEST_F(CollectivePolicyTest, ARoundWaitsForTheAnswerOnlyAMoment) {
  open_members(4);
  add_aggregator();
  prepare();
  coordinator_.now = network().wait_ends_ns();
  EXPECT_FALSE(network().waits(1));
}

TEST_F(CollectivePolicyTest, AnEpochThatTheHandleHasHadIsReplacedByAHigherOne) {
  open_members(4);
  AgentSession& aggregator = add_aggregator();
  prepare();
  forget_actions();
  answer(aggregator, 1, false, 57);
  ASSERT_EQ(asked(aggregator).at(0).epoch, 58u);
  answer(aggregator, 1, true, 58);  // of the first request
  EXPECT_EQ(chosen(1), Collective::star);
  answer(aggregator, 58, true, 58);
  EXPECT_EQ(chosen(1), Collective::in_network);
}

TEST_F(CollectivePolicyTest, AnAggregatorThatIsShortOfSlotsGetsASmallerQuota) {
  open_members(4);
  AgentSession& aggregator = add_aggregator();
  prepare();
  forget_actions();
  answer(aggregator, 1, false, 0);
  EXPECT_EQ(asked(aggregator).at(0).slot_count, 256u);
  for (std::uint32_t epoch = 2; epoch <= 7; ++epoch) answer(aggregator, epoch, false, 0);
  EXPECT_EQ(chosen(1), Collective::star);
  EXPECT_THAT(reason_, HasSubstr("the aggregator refuses: no"));
  EXPECT_EQ(noted("epoch_refused").size(), 1u);
  EXPECT_FALSE(network().waits(1));
}

TEST_F(CollectivePolicyTest, AnAggregatorWithoutNumbersLeftIsNotUsed) {
  open_members(4);
  AgentSession& aggregator = add_aggregator();
  prepare();
  for (std::uint32_t i = 0; i < 64; ++i) {
    const auto messages = asked(aggregator);
    if (messages.empty()) break;
    answer(aggregator, messages[0].epoch, false, UINT32_MAX);
  }
  EXPECT_THAT((chosen(1), reason_), HasSubstr("the aggregator refuses"));
}

TEST_F(CollectivePolicyTest, EveryMembershipHasAnEpochOfItsOwn) {
  AgentSession& aggregator = install();
  add_agent("agent-999").sums_in_network = true;
  open_again();
  prepare();
  const auto messages = asked(aggregator);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].epoch, 2u);
  EXPECT_EQ(messages[0].agents, 5u);
  EXPECT_EQ(chosen(1, 5), Collective::star);
}

TEST_F(CollectivePolicyTest, SumsOfManyAgentsAreWide) {
  install(18);
  EXPECT_EQ(chosen(1, 18), Collective::in_network);
  EXPECT_TRUE(network().epoch().sums.wide);
}

// --- the star stands in ---

TEST_F(CollectivePolicyTest, TheStarStandsInWithoutAnAggregator) {
  open_members(4);
  prepare();
  EXPECT_EQ(chosen(1), Collective::star);
  EXPECT_THAT(reason_, HasSubstr("no aggregator is connected"));
  EXPECT_FALSE(network().reachable(membership_, 1));
}

TEST_F(CollectivePolicyTest, TheStarStandsInWhereAnAgentCannotTakePart) {
  open_members(3);
  add_agent("plain").build = "0.0.9";
  open_again();
  AgentSession& aggregator = add_aggregator();
  prepare();
  EXPECT_TRUE(asked(aggregator).empty());
  EXPECT_EQ(chosen(1), Collective::star);
  EXPECT_THAT(reason_, HasSubstr("plain (build 0.0.9) cannot exchange"));
  EXPECT_THAT(reason_, HasSubstr("set in_network.listen there"));
  EXPECT_FALSE(network().reachable(membership_, 1));
}

// --- contributors ---

TEST_F(CollectivePolicyTest, ALateAgentIsInNoEpochAndContributesEveryFourthRound) {
  AgentSession& aggregator = install();
  make_late(2);
  EXPECT_EQ(chosen(1, 3), Collective::star);
  EXPECT_THAT(reason_, HasSubstr("the aggregator's epoch is for other agents"));
  prepare();
  const auto messages = asked(aggregator);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].epoch, 2u);
  EXPECT_EQ(messages[0].agents, 3u);
  answer(aggregator, 2, true, 2);
  EXPECT_EQ(chosen(1, 3), Collective::in_network);
  EXPECT_EQ(network().epoch().sums.agents, 3u);
  reason_.clear();
  EXPECT_EQ(collectives_.choose(policy(), {.prompt = 3, .some_late = true}, 4, reason_),
            Collective::star);
  EXPECT_THAT(reason_, HasSubstr("late agents can only contribute by the star"));
  EXPECT_EQ(collectives_.choose(policy(), {.prompt = 3, .some_late = true}, 5, reason_),
            Collective::in_network);
}

TEST_F(CollectivePolicyTest, OtherParticipantsOfTheSameNumberNeedAnEpoch) {
  AgentSession& aggregator = install();
  Bitmap three(4, true);
  three.clear(0);
  prepare(three);
  ASSERT_EQ(asked(aggregator).size(), 1u);
  answer(aggregator, 2, true, 2);
  prepare(three);
  EXPECT_TRUE(asked(aggregator).empty());
  Bitmap others(4, true);
  others.clear(1);
  prepare(others);
  ASSERT_EQ(asked(aggregator).size(), 1u);
  EXPECT_EQ(chosen(1, 3), Collective::star);
}

TEST_F(CollectivePolicyTest, TheStarStandsInWhereFewerThanTheQuorumAreInTime) {
  policy().quorum_fraction = 0.75;
  AgentSession& aggregator = install();
  make_late(0);
  make_late(1);
  prepare();
  EXPECT_TRUE(asked(aggregator).empty());
  EXPECT_EQ(chosen(1, 2), Collective::star);
  EXPECT_THAT(reason_, HasSubstr("2 agents are in time, fewer than the quorum"));
}

TEST_F(CollectivePolicyTest, AnAgentThatIsTooLateCostsAnEpochAndNoPause) {
  AgentSession& aggregator = install();
  make_late(3);
  collectives_.left_some_out();
  prepare();
  EXPECT_TRUE(network().waits(1));
  answer(aggregator, 2, true, 2);
  EXPECT_EQ(chosen(1, 3), Collective::in_network);
  EXPECT_FALSE(network().stood_in(1));
}

TEST_F(CollectivePolicyTest, AFailureCostsAnEpochAndPauses) {
  AgentSession& aggregator = install();
  network().failed(1);
  EXPECT_TRUE(network().stood_in(1));
  EXPECT_EQ(chosen(1), Collective::star);
  EXPECT_THAT(reason_, HasSubstr("tried again in round 2"));
  EXPECT_FALSE(network().reachable(membership_, 1));
  prepare();
  EXPECT_FALSE(network().waits(1));  // the star does not need it
  ASSERT_EQ(asked(aggregator).at(0).epoch, 2u);
  answer(aggregator, 2, true, 2);
  EXPECT_EQ(chosen(2), Collective::in_network);
  network().failed(2);
  EXPECT_EQ(chosen(3), Collective::star);
  EXPECT_THAT(reason_, HasSubstr("tried again in round 4"));
}

TEST_F(CollectivePolicyTest, AnAggregatorThatLeavesIsReplacedByTheNextOne) {
  AgentSession& first = install();
  first.leaving = true;
  EXPECT_TRUE(network().left(first));
  EXPECT_FALSE(network().left(first));
  EXPECT_EQ(chosen(1), Collective::star);
  EXPECT_THAT(reason_, HasSubstr("no aggregator is connected"));
  AgentSession& second = add_aggregator("other");
  prepare();
  EXPECT_EQ(asked(second).at(0).epoch, 2u);
}

TEST_F(CollectivePolicyTest, AJobThatIsOverIsRemoved) {
  AgentSession& aggregator = install();
  const std::uint16_t handle = network().epoch().sums.handle;
  network().end();
  const auto messages = asked(aggregator);
  EXPECT_TRUE(messages.at(0).remove);
  EXPECT_EQ(messages.at(0).handle, handle);
}

// With 65,536 handles, some of 2,000 jobs have the same hash.
TEST(SumHandles, NoTwoJobsHaveTheSame) {
  SumHandles handles;
  std::map<std::uint16_t, std::uint64_t> seen;
  std::uint32_t moved = 0;
  for (std::uint64_t job = 1; job <= 2'000; ++job) {
    const std::uint16_t handle = handles.take(job);
    EXPECT_TRUE(seen.emplace(handle, job).second) << job;
    EXPECT_EQ(handles.take(job), handle);
    moved += SumHandles().take(job) != handle ? 1u : 0u;
  }
  EXPECT_GT(moved, 0u);
  const std::uint16_t freed = handles.take(77);
  handles.release(77);
  EXPECT_EQ(handles.take(77), freed);
}

// --- deadlines and exchanges ---

TEST_F(CollectivePolicyTest, HalfOfTheDeadlineIsForTheStarThatStandsIn) {
  policy().deadline_ms = 1'001;
  for (const Collective collective : {Collective::ring, Collective::in_network}) {
    EXPECT_EQ(collectives_.deadline_ms(collective, 1), 500u);
  }
  EXPECT_EQ(collectives_.deadline_ms(Collective::star, 1), 1'001u);
  network().failed(1);
  EXPECT_EQ(collectives_.deadline_ms(Collective::star, 1), 500u);
  EXPECT_EQ(collectives_.deadline_ms(Collective::star, 2), 1'001u);
}

TEST_F(CollectivePolicyTest, ARoundHasSeveralExchangesOnlyAmongPeers) {
  policy().exchanges_per_round = 4;
  EXPECT_EQ(CollectivePolicy::exchanges(policy(), Collective::ring), 4u);
  EXPECT_EQ(CollectivePolicy::exchanges(policy(), Collective::star), 1u);
  EXPECT_EQ(CollectivePolicy::exchanges(policy(), Collective::in_network), 1u);
}

TEST_F(CollectivePolicyTest, PeersAreNotConnectedForSumsInTheNetwork) {
  install();
  EXPECT_EQ(collectives_.peer_session(), 0u);
}

}  // namespace
}  // namespace tributary
