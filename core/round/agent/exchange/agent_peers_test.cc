// Tests of the group of peers that an agent joins: newer epochs replace older ones, plans must fit
// the group, and early messages are kept up to a limit.
#include "core/round/agent/exchange/agent_peers.h"

#include "core/round/agent/replica/agent_parts_testing.h"

namespace tributary {
namespace {

using round_testing::AgentParts;
using round_testing::count;
using round_testing::notes;
using round_testing::Packed;

// The peers of an agent that is member 1 of an epoch with two members.
class SomePeers : public testing::Test {
 protected:
  void SetUp() override { agent_.have_model(); }
  void join(std::uint32_t epoch, std::uint64_t session) {
    wire::MembershipT membership;
    membership.job = 1;
    membership.epoch = epoch;
    membership.agent_index = 1;
    membership.peer_session = session;
    for (int i = 0; i < 2; ++i) membership.members.push_back(std::make_unique<wire::MemberT>());
    peers_.join(*Packed(membership));
  }

  AgentParts agent_;
  AgentPeers peers_{agent_.context, agent_.replica};
};

TEST_F(SomePeers, JoinNewerEpochsAlone) {
  join(2, 7);
  EXPECT_EQ(peers_.epoch(), 2u);
  EXPECT_EQ(peers_.member(), 1u);
  EXPECT_TRUE(peers_.is_current(7));
  EXPECT_EQ(count<OpenPeers>(agent_.take()), 1);
  join(1, 8);
  EXPECT_TRUE(peers_.is_current(7));
  join(3, 0);
  EXPECT_EQ(count<ClosePeers>(agent_.take()), 1) << "the epoch has no session of peers";
  peers_.leave();
  EXPECT_EQ(peers_.epoch(), 0u);
}

TEST_F(SomePeers, AreCheckedAgainstAPlan) {
  const auto plan = agent_.round_plan(1, {.collective = wire::Collective::ring});
  EXPECT_FALSE(peers_.check(*plan).ok()) << "no epoch";
  join(1, 7);
  EXPECT_TRUE(peers_.check(*plan).ok());
  peers_.lost(5, "gone");
  EXPECT_TRUE(peers_.check(*plan).ok()) << "it has no part in it";
  peers_.lost(0, "gone");
  EXPECT_FALSE(peers_.check(*plan).ok());
}

TEST_F(SomePeers, KeepALimitedAmountForLater) {
  join(1, 7);
  agent_.take();
  const Bytes frame(5u << 20);
  peers_.keep(0, ByteSpan(frame).first(100), {});
  EXPECT_EQ(peers_.bytes(), 100u);
  EXPECT_EQ(peers_.take_kept().size(), 1u);
  peers_.keep(0, frame, {});
  EXPECT_EQ(peers_.bytes(), 0u);
  EXPECT_EQ(notes(agent_.take(), "peer_ahead"), 1);
  const auto plan = agent_.round_plan(1, {.collective = wire::Collective::ring});
  EXPECT_FALSE(peers_.check(*plan).ok()) << "the member counts as lost";
}

}  // namespace
}  // namespace tributary
