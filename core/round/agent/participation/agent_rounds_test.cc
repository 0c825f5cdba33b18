// Tests of the sequence of rounds at an agent: plans, commits in any order, aborted attempts, and
// replicas that differ from the commit.
#include "core/round/agent/participation/agent_rounds.h"

#include "core/round/agent/replica/agent_parts_testing.h"

namespace tributary {
namespace {

using round_testing::AgentParts;
using round_testing::count;
using round_testing::kSmallValues;
using round_testing::notes;
using round_testing::Packed;

// The rounds of an agent that has the model of version 0, an open session and epoch 1.
class SomeRounds : public testing::Test {
 protected:
  void SetUp() override {
    agent_.have_model();
    agent_.open_session();
    updates_.begin_job(kSmallValues);
    wire::MembershipT membership;
    membership.epoch = 1;
    peers_.join(*Packed(membership));
  }
  void plan(std::uint64_t round, std::uint32_t attempt = 0) {
    plan(agent_.plan(round, {.attempt = attempt}));
  }
  void plan(const wire::PlanT& plan) { rounds_.receive(*Packed(plan), 1); }
  std::uint64_t current() const { return rounds_.current() ? rounds_.current()->key().round : 0; }
  wire::CommitT commit(std::uint64_t round) {
    wire::CommitT made;
    made.id = std::make_unique<wire::RoundId>(
        wire_id({.job = 1, .round = round, .epoch = 1, .attempt = 0}));
    made.agents = 2;
    made.model_version = round;
    made.previous_hash = agent_.replica.id().hash;
    made.model_hash = agent_.replica.id().hash;
    made.rounds.push_back(std::make_unique<wire::RoundOutcomeT>());
    return made;
  }
  void receive(const wire::CommitT& commit) { rounds_.receive(*Packed(commit)); }

  AgentParts agent_;
  ModelTransfer transfer_{agent_.context, agent_.session, agent_.replica};
  AgentPeers peers_{agent_.context, agent_.replica};
  LocalUpdates updates_;
  MissingAggregates missing_{agent_.context, agent_.session};
  Participation participation_{agent_.context,
                               {.session = agent_.session,
                                .replica = agent_.replica,
                                .peers = peers_,
                                .updates = updates_,
                                .missing = missing_}};
  AgentRounds rounds_{agent_.context,
                      {.session = agent_.session,
                       .replica = agent_.replica,
                       .transfer = transfer_,
                       .peers = peers_,
                       .updates = updates_,
                       .missing = missing_,
                       .participation = participation_,
                       .codecs = agent_.codecs}};
};

TEST_F(SomeRounds, BeginARoundOfTheReplicasModel) {
  plan(1);
  EXPECT_EQ(current(), 1u);
  EXPECT_EQ(count<Train>(agent_.take()), 1);
  plan(2);
  EXPECT_EQ(current(), 1u) << "the model of the second is still to come";
}

TEST_F(SomeRounds, RefuseThePlanOfAnotherJob) {
  wire::PlanT other = agent_.plan(1, {});
  other.id =
      std::make_unique<wire::RoundId>(wire_id({.job = 2, .round = 1, .epoch = 1, .attempt = 0}));
  plan(other);
  EXPECT_EQ(current(), 0u);
  EXPECT_EQ(agent_.sent<wire::RefusalT>().size(), 1u);
}

TEST_F(SomeRounds, HaveADivergedReplicaReplaced) {
  wire::PlanT other = agent_.plan(1, {});
  other.model_hash += 1;
  plan(other);
  EXPECT_EQ(current(), 0u);
  EXPECT_TRUE(transfer_.requested());
}

// A commit without buckets does not change the model.
TEST_F(SomeRounds, ApplyACommitBeforeItsPlanArrives) {
  receive(commit(1));
  EXPECT_EQ(agent_.replica.version(), 0u);
  plan(1);
  EXPECT_EQ(agent_.replica.version(), 1u);
  EXPECT_EQ(current(), 0u);
  EXPECT_TRUE(agent_.sent<wire::AppliedT>().empty()) << "it is not stored yet";
  agent_.store_all();
  EXPECT_EQ(agent_.sent<wire::AppliedT>().size(), 1u);
  plan(2);
  EXPECT_EQ(current(), 2u);
}

TEST_F(SomeRounds, LoseTheReplicaByACommitOfAnotherModel) {
  plan(1);
  wire::CommitT other = commit(1);
  other.model_hash += 1;
  receive(other);
  EXPECT_EQ(agent_.replica.model(), nullptr);
  EXPECT_TRUE(transfer_.requested());
}

TEST_F(SomeRounds, ReplaceACommitThatIsOverdue) {
  receive(commit(1));
  rounds_.replace_overdue_commit();
  EXPECT_FALSE(transfer_.requested());
  agent_.context.now = rounds_.next_due_ns();
  rounds_.replace_overdue_commit();
  EXPECT_TRUE(transfer_.requested());
}

TEST_F(SomeRounds, EndAnAbortedAttempt) {
  plan(1);
  wire::AbortT abort;
  abort.id = std::make_unique<wire::RoundId>(wire_id(rounds_.current()->key()));
  rounds_.receive(*Packed(abort));
  EXPECT_EQ(current(), 0u);
  plan(1, 1);
  EXPECT_EQ(current(), 1u) << "the next attempt";
}

TEST_F(SomeRounds, ForgetWaitingRoundsWithTheirSession) {
  plan(2);
  rounds_.session_lost();
  receive(commit(1));
  plan(1);
  EXPECT_EQ(agent_.replica.version(), 1u);
  rounds_.begin_next();
  EXPECT_EQ(current(), 0u);
}

}  // namespace
}  // namespace tributary
