// Withdraws an agent from an attempt at a round in which it has failed: marks the round, and says
// to the coordinator that the agent gives nothing more.
//
// Without a session the round is marked only; the coordinator then learns of the loss by itself.
// The replica is borrowed and only read.
//
// Threads: one at a time.
#pragma once

#include "core/round/agent/context/client_session.h"
#include "core/round/agent/replica/replica.h"
#include "core/round/agent/round/agent_round.h"

namespace tributary {

class RoundWithdrawal {
 public:
  RoundWithdrawal(ClientSession& session, const Replica& replica)
      : session_(session), replica_(replica) {}

  void withdraw(AgentRound& round, wire::AbortReason reason, const Status& status) const;

 private:
  ClientSession& session_;
  const Replica& replica_;
};

}  // namespace tributary
