// The training that the host runs for an agent: at most one at a time, requested by Train and
// answered with the same token.
//
// The caller starts one only if none runs, and handles each answer whose token is expected. A
// finished update may be kept here; it is dropped if its training is forgotten. Not thread-safe.
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

  // Requests an update from this model.
  void start(const std::shared_ptr<const RoundPlan>& plan, std::uint32_t exchange,
             std::uint64_t model_version, SharedFloats model);
  // Null if none runs.
  const Running* running() const { return running_ ? &*running_ : nullptr; }
  // Null if the answer does not belong to the running training.
  const Running* expected(Token token) const {
    return running_ && running_->token == token ? &*running_ : nullptr;
  }
  // The training has ended. Requires that one runs.
  Running end() { return *std::exchange(running_, std::nullopt); }
  // Ignores the answer of the running training.
  void forget() { running_.reset(); }

  // Keeps an expected answer until release().
  void keep(UpdateReady update) { kept_ = std::move(update); }
  bool keeps() const { return kept_.has_value(); }
  // Empty if the update is no longer expected.
  std::optional<UpdateReady> release();

 private:
  AgentContext& context_;
  std::optional<Running> running_;
  std::optional<UpdateReady> kept_;
  Token last_token_ = 0;
};

}  // namespace tributary
