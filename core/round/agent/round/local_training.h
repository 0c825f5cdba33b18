// The training that the host runs for an agent: at most one at a time, requested by Train and
// answered with the same token.
//
// The caller starts one only if none runs, and handles each answer whose token is expected. A
// finished update may be kept here; it is dropped if its training is forgotten. Not thread-safe.
//
// A training may begin ahead, before the plan of its round has arrived. It belongs to no round and
// nothing of it is in the residual until start() asks for the same training. If start() asks for
// another one, it is forgotten. So it changes when an update is ready, and nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "core/round/agent/context/agent_context.h"
#include "core/round/agent/replica/replica.h"
#include "core/round/common/machine/events.h"
#include "core/round/common/plan/round_plan.h"

namespace tributary {

class LocalTraining {
 public:
  // A requested training without an answer.
  struct Running {
    Token token = 0;
    std::shared_ptr<const RoundPlan> plan;
    std::uint32_t exchange = 0;  // the exchange of the plan's round for which the update is
  };

  explicit LocalTraining(AgentContext& context) : context_(context) {}

  // Requests an update from this model. Returns true if its training has begun ahead.
  bool start(const std::shared_ptr<const RoundPlan>& plan, std::uint32_t exchange,
             std::uint64_t model_version, SharedFloats model);
  // Requests the update that the next round probably needs: from this model, which this round
  // leaves if it is committed. Requires that none runs.
  void start_ahead(const RoundPlan& plan, bool evaluate, SharedFloats model);
  void forget_ahead() { ahead_.reset(); }
  // Take the answer of the training that has begun ahead. Return false if it is another's.
  bool take_ahead(UpdateReady& update);
  bool ahead_failed(Token token);

  // Null if none runs.
  const Running* running() const { return running_ ? &*running_ : nullptr; }
  // Null if the answer does not belong to the running training.
  const Running* expected(Token token) const {
    return running_ && running_->token == token ? &*running_ : nullptr;
  }
  // The training has ended. Requires that one runs.
  Running end() { return *std::exchange(running_, std::nullopt); }
  // Ignores the answers of all trainings.
  void forget() {
    running_.reset();
    ahead_.reset();
  }

  // Keeps an expected answer until release().
  void keep(UpdateReady update) { kept_ = std::move(update); }
  bool keeps() const { return kept_.has_value(); }
  // Empty if the update is no longer expected.
  std::optional<UpdateReady> release();

 private:
  // A training that has begun ahead, and its answer if that was early, too.
  struct Ahead {
    Train request;
    std::optional<UpdateReady> update;
  };

  AgentContext& context_;
  std::optional<Running> running_;
  std::optional<UpdateReady> kept_;
  std::optional<Ahead> ahead_;
  Token last_token_ = 0;
};

}  // namespace tributary
