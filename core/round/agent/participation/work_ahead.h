// An agent's work ahead of the commit of its round: applies results as they arrive, and begins the
// next training when all are applied.
//
// The caller begins with a round that lives until end(), and calls step() while it is due and no
// event waits. All references must outlive the object. The replica does not change. Not
// thread-safe.
#pragma once

#include <functional>
#include <utility>

#include "core/round/agent/context/agent_context.h"
#include "core/round/agent/exchange/ahead_of_commit.h"
#include "core/round/agent/exchange/round_exchange.h"
#include "core/round/agent/participation/contribution.h"
#include "core/round/agent/replica/replica.h"
#include "core/round/agent/round/agent_round.h"
#include "core/round/agent/round/local_training.h"
#include "core/round/agent/round/round_withdrawal.h"

namespace tributary {

class WorkAhead {
 public:
  // The parts of the agent that it observes, and those that it changes.
  struct Parts {
    const Replica& replica;
    const Contribution& contribution;
    const RoundExchange& exchange;
    const RoundWithdrawal& withdrawal;
    AheadOfCommit& ahead;
    LocalTraining& training;
  };

  // `applied` is called when all results are applied, before the training.
  WorkAhead(AgentContext& context, const Parts& parts, std::function<void()> applied)
      : context_(context), parts_(parts), applied_(std::move(applied)) {}

  void begin(AgentRound& round) { round_ = &round; }
  void end() { round_ = nullptr; }

  // True if an exchange among peers may be voted for: the model after it is finite, or it is
  // applied only with the commit.
  bool ready_for_vote() const { return !applies() || parts_.ahead.complete(*round_); }
  bool due() const { return can_apply() || can_begin(); }
  void step();

 private:
  bool applies() const;
  bool can_apply() const { return applies() && parts_.ahead.has_next(*round_); }
  bool can_begin() const;
  void check(const Status& status);
  void train();

  AgentContext& context_;
  const Parts parts_;
  const std::function<void()> applied_;
  AgentRound* round_ = nullptr;  // null: none has begun
};

}  // namespace tributary
