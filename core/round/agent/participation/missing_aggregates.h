// Requests the aggregates of an attempt that do not arrive.
//
// Nothing is requested while parts arrive, or while no session is open. The caller resets the
// object when a round begins or ends, and reports every part that arrives. Not thread-safe.
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

  // A round begins or ends: no aggregate is expected.
  void reset();

  // --- reasons to expect aggregates; without a session they have no effect ---
  // The agent has sent its contribution.
  void contributed();
  // A commit needs them; only the first call has an effect. If no aggregates are being sent to this
  // agent, the request is due at once.
  void needed_by_commit(const AgentRound& round);
  // The lost session may have lost aggregates.
  void session_opened() { again_.set_due(context_.now); }
  // A part has arrived, so others are probably being sent.
  void part_came();

  // Sends requests if they are due: for all missing stages, or only for those of `commit` if it is
  // not null.
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
