// Tests of the requests for aggregates that an agent lacks: their pauses, and the cases in which
// the agent must wait instead.
#include "core/round/agent/participation/missing_aggregates.h"

#include "core/round/agent/replica/agent_parts_testing.h"

namespace tributary {
namespace {

using round_testing::AgentParts;

// The requests of an agent in round 1, which has two buckets and no aggregate.
class SomeMissing : public testing::Test {
 protected:
  void SetUp() override {
    agent_.have_model();
    agent_.open_session();
    round_ = std::make_unique<AgentRound>(agent_.round_plan(1));
  }
  std::size_t asked(const wire::CommitT* commit = nullptr) {
    missing_.ask(*round_, commit);
    return agent_.sent<wire::ReceiptT>().size();
  }
  // The time from now until the request is due.
  TimeNs wait() {
    const TimeNs began_at = std::exchange(agent_.context.now, missing_.next_due_ns());
    return agent_.context.now - began_at;
  }

  AgentParts agent_;
  MissingAggregates missing_{agent_.context, agent_.session};
  std::unique_ptr<AgentRound> round_;
};

TEST_F(SomeMissing, AsksWithLongerAndLongerPauses) {
  EXPECT_EQ(asked(), 0u) << "nothing is expected";
  missing_.contributed();
  EXPECT_EQ(asked(), 0u);
  const TimeNs first = wait();
  EXPECT_EQ(asked(), 2u) << "both buckets";
  EXPECT_EQ(wait(), first);
  EXPECT_EQ(asked(), 2u);
  EXPECT_EQ(wait(), 2 * first);
  missing_.reset();
  EXPECT_EQ(asked(), 0u);
}

TEST_F(SomeMissing, AsksForNothingWhilePartsCome) {
  missing_.contributed();
  const TimeNs due = missing_.next_due_ns();
  agent_.context.now = due - 1;
  missing_.part_came();
  agent_.context.now = due;
  EXPECT_EQ(asked(), 0u);
}

TEST_F(SomeMissing, AsksAtOnceForACommitOfARoundThatIsOnlyFollowed) {
  wire::CommitT commit;
  commit.rounds.push_back(std::make_unique<wire::RoundOutcomeT>());
  commit.rounds[0]->outcomes.push_back(std::make_unique<wire::OutcomeT>());
  commit.rounds[0]->outcomes[0]->bucket = 1;
  missing_.needed_by_commit(*round_);
  EXPECT_EQ(asked(&commit), 1u) << "the bucket that counts";
  missing_.needed_by_commit(*round_);
  EXPECT_EQ(asked(&commit), 0u);
}

TEST_F(SomeMissing, WaitsForTheAggregatesOfARoundItTakesPartIn) {
  round_->take_part_as(0);
  missing_.needed_by_commit(*round_);
  EXPECT_EQ(asked(), 0u);
  EXPECT_GT(wait(), 0);
  EXPECT_EQ(asked(), 2u);
}

TEST_F(SomeMissing, AsksAtOnceInANewSession) {
  missing_.contributed();
  missing_.session_opened();
  EXPECT_EQ(asked(), 2u);
  agent_.session.close();
  missing_.session_opened();
  EXPECT_EQ(asked(), 0u) << "no session is open";
}

}  // namespace
}  // namespace tributary
