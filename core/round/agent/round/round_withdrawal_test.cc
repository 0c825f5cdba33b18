// Tests of the withdrawal of an agent from a round, which must also work without a session.
#include "core/round/agent/round/round_withdrawal.h"

#include "core/round/agent/replica/agent_parts_testing.h"

namespace tributary {
namespace {

TEST(RoundWithdrawal, MarksTheRoundAlsoWithoutASession) {
  round_testing::AgentParts agent;
  agent.have_model();
  AgentRound round(agent.round_plan(1));
  const RoundWithdrawal withdrawal(agent.session);
  const Status status(StatusCode::unavailable, {.what = "a peer"});
  withdrawal.withdraw(round, wire::AbortReason::failure, status);
  EXPECT_TRUE(round.withdrawn());
  EXPECT_TRUE(agent.take().empty());
  agent.open_session();
  withdrawal.withdraw(round, wire::AbortReason::failure, status);
  const auto aborts = agent.sent<wire::AbortT>();
  ASSERT_EQ(aborts.size(), 1u);
  EXPECT_EQ(aborts[0].reason, wire::AbortReason::failure);
}

}  // namespace
}  // namespace tributary
