// Asks the coordinator for the aggregates of an attempt that do not come.
//
// While parts come, nothing is asked for. The caller resets it when a round begins or ends, and
// reports every part that comes. Nothing is asked while no session is open.
//
// Threads: one at a time.
#pragma once

#include "core/round/agent/context/agent_context.h"
#include "core/round/agent/context/client_session.h"
#include "core/round/agent/context/repeat_timer.h"
#include "core/round/agent/round/agent_round.h"

namespace tributary {

class MissingAggregates {
 public:
  MissingAggregates(AgentContext& context, ClientSession& session)
      : context_(context), session_(session) {}

  // A round begins or ends: nothing is expected.
  void reset();

  // --- reasons to expect aggregates; without a session they change nothing ---
  // The agent has given its contribution.
  void contributed();
  // A commit needs them; the first time only. It asks at once where none are being sent to this
  // agent.
  void needed_by_commit(const AgentRound& round);
  // The lost session may have taken them with it.
  void session_opened() { again_.set_due(context_.now); }
  // A part has come: others are being sent.
  void part_came();

  // Asks if it is due: for all stages that are missing, or those that `commit` (null: none) has.
  void ask(const AgentRound& round, const wire::CommitT* commit);
  TimeNs next_due_ns() const { return again_.due_at_ns(); }

 private:
  TimeNs least_pause_ns() const;

  AgentContext& context_;
  ClientSession& session_;
  RepeatTimer again_;
  bool needed_by_commit_ = false;
};

}  // namespace tributary
