// Withdraws an agent from an attempt in which it has failed: marks the round, and informs the
// coordinator that the agent sends nothing more.
//
// Without a session only the round is marked; the coordinator then notices the lost session. Not
// thread-safe.
#pragma once

#include "core/round/agent/context/client_session.h"
#include "core/round/agent/round/agent_round.h"

namespace tributary {

// The reason for an agent's own failure: not_finite for numbers that cannot be sent, else failure.
wire::AbortReason abort_reason_of(const Status& status);

class RoundWithdrawal {
 public:
  explicit RoundWithdrawal(ClientSession& session) : session_(session) {}

  void withdraw(AgentRound& round, wire::AbortReason reason, const Status& status) const;

 private:
  ClientSession& session_;
};

}  // namespace tributary
