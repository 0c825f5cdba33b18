// Tests of the choice between an exchange among peers and the star: addresses, failures with
// growing pauses, and late agents.
#include "core/round/coordinator/job/collective/peer_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/net/mesh/reach_group.h"
#include "core/net/mesh/reach_testing.h"
#include "core/round/coordinator/context/job_testing.h"

namespace tributary {
namespace {

using reach_testing::kAnotherGroup;
using reach_testing::kDialled;
using reach_testing::kOneGroup;
using round_testing::JobTest;
using testing::HasSubstr;
using wire::Collective;

// A job whose policy asks for a ring.
class PeerPolicyTest : public JobTest {
 protected:
  PeerPolicyTest() { policy().collective = Collective::ring; }

  // Opens an epoch of agents with these addresses.
  void open_with(const std::vector<std::string>& endpoints) {
    for (std::size_t i = 0; i < endpoints.size(); ++i) {
      add_agent(fmt::format("agent-{}", i)).endpoint = endpoints[i];
    }
    membership_.open(1);
    peers_.open(membership_);
  }
  void open_two() { open_with({"tcp://a:1", "tcp://b:1"}); }
  Collective chosen(std::uint64_t round, std::uint32_t participants = 2) {
    reason_ = "unchanged";
    return peers_.choose(policy(), {.prompt = participants, .some_late = some_late_}, round,
                         reason_);
  }
  // The exchange of this round fails, and a new epoch begins.
  void fail(std::uint64_t round, std::uint32_t exchanges = 1) {
    peers_.failed(
        *make_plan(round, [&](PlanRequest& request) { request.exchanges_per_round = exchanges; }));
  }

  PeerPolicy peers_{job_};
  std::string reason_;
  bool some_late_ = false;
};

// --- reachability ---

TEST_F(PeerPolicyTest, PeersExchangeWhereAllHaveAddresses) {
  open_two();
  EXPECT_NE(peers_.session(), 0u);
  EXPECT_TRUE(peers_.reachable(1));
  EXPECT_EQ(chosen(1), Collective::ring);
  EXPECT_EQ(reason_, "unchanged");
}

TEST_F(PeerPolicyTest, TheStarStandsInWhereAnAddressIsLacking) {
  open_with({"tcp://a:1", "", "tcp://c:1"});
  EXPECT_EQ(peers_.session(), 0u);
  EXPECT_FALSE(peers_.reachable(1));
  EXPECT_EQ(chosen(1), Collective::star);
  EXPECT_THAT(reason_, HasSubstr("agent-1 has no address"));
}

TEST_F(PeerPolicyTest, TheStarStandsInWhereThereIsOneAgent) {
  open_with({"tcp://a:1"});
  EXPECT_EQ(chosen(1, 1), Collective::star);
  EXPECT_THAT(reason_, HasSubstr("there is only one agent"));
}

TEST_F(PeerPolicyTest, TheStarStandsInWhereOneAgentTakesPart) {
  open_two();
  EXPECT_EQ(chosen(1, 1), Collective::star);
  EXPECT_THAT(reason_, HasSubstr("only one agent takes part"));
}

TEST_F(PeerPolicyTest, LateAgentsHaveEveryFourthRound) {
  open_two();
  some_late_ = true;
  EXPECT_EQ(chosen(3), Collective::ring);
  EXPECT_EQ(chosen(4), Collective::star);
  EXPECT_THAT(reason_, HasSubstr("every fourth round"));
  policy().agents_min = 3;
  EXPECT_EQ(chosen(3), Collective::star);
  EXPECT_THAT(reason_, HasSubstr("too many agents are late"));
}

TEST_F(PeerPolicyTest, MembersOfOneGroupReachOneAnother) {
  open_with({kOneGroup[0], kOneGroup[1]});
  EXPECT_EQ(chosen(1), Collective::ring);
}

TEST_F(PeerPolicyTest, MembersOfDifferentNetworksDoNotReachOneAnother) {
  open_with({kOneGroup[0], kAnotherGroup});
  EXPECT_EQ(chosen(1), Collective::star);
  EXPECT_THAT(reason_, HasSubstr("not in " + std::string(kReachGroupName)));
  open_with({kOneGroup[0], kDialled});
  EXPECT_EQ(chosen(1), Collective::star);
}

TEST_F(PeerPolicyTest, AJobByTheStarConnectsItsMembersOnlyForAPlanner) {
  policy().collective = Collective::star;
  open_two();
  EXPECT_EQ(peers_.session(), 0u);
  policy().planning.goal = wire::PlanGoal::adaptive;
  peers_.open(membership_);
  EXPECT_NE(peers_.session(), 0u);
  EXPECT_EQ(chosen(1), Collective::star);
  EXPECT_EQ(reason_, "unchanged");
}

TEST_F(PeerPolicyTest, EachEpochHasConnectionsOfItsOwn) {
  open_two();
  const std::uint64_t before = peers_.session();
  peers_.open(membership_);
  EXPECT_NE(peers_.session(), before);
}

// --- failures ---

TEST_F(PeerPolicyTest, ThePauseDoublesWithEachFailureUpTo64Rounds) {
  open_two();
  std::uint64_t round = 1;
  for (const std::uint32_t pause : {1u, 2u, 4u, 8u, 16u, 32u, 64u, 64u}) {
    fail(round);
    EXPECT_FALSE(peers_.reachable(round + pause - 1)) << pause;
    EXPECT_TRUE(peers_.reachable(round + pause)) << pause;
    round += pause;
  }
}

TEST_F(PeerPolicyTest, AfterASuccessThePauseIsOneRoundAgain) {
  open_two();
  fail(1);
  fail(2);
  peers_.succeeded();
  fail(10);
  EXPECT_FALSE(peers_.reachable(10));
  EXPECT_TRUE(peers_.reachable(11));
}

TEST_F(PeerPolicyTest, APauseNamesTheFailureAndTheNextTry) {
  open_two();
  fail(1);
  fail(2);
  EXPECT_EQ(chosen(3), Collective::star);
  EXPECT_EQ(reason_, "Use the star: the ring failed and is tried again in round 4");
  EXPECT_EQ(chosen(4), Collective::ring);
}

TEST_F(PeerPolicyTest, AFailedExchangeNeedsANewEpochWhenItIsTriedAgain) {
  open_two();
  EXPECT_FALSE(peers_.needs_epoch(1));
  fail(1);
  EXPECT_FALSE(peers_.needs_epoch(1));
  EXPECT_TRUE(peers_.needs_epoch(2));
  peers_.open(membership_);
  EXPECT_FALSE(peers_.needs_epoch(2));
}

TEST_F(PeerPolicyTest, SeveralExchangesThatFailedNeedANewEpochAtOnce) {
  open_two();
  fail(1, 2);
  EXPECT_TRUE(peers_.needs_epoch(1));
}

}  // namespace
}  // namespace tributary
