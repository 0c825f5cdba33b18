// The training that the host runs for an agent: at most one at a time, asked for by Train and
// answered with the same token.
//
// The caller starts one only while none runs, and takes each answer whose token is expected. A
// finished update may be kept here for a while; it is dropped if its training is forgotten.
//
// Threads: one at a time.
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
  struct Running {
    Token token = 0;
    std::shared_ptr<const RoundPlan> plan;
    std::uint32_t exchange = 0;  // of the plan's round, that the update is for
  };

  explicit LocalTraining(AgentContext& context) : context_(context) {}

  // Asks for an update from this model.
  void start(const std::shared_ptr<const RoundPlan>& plan, std::uint32_t exchange,
             std::uint64_t model_version, SharedFloats model);
  // Null: none runs.
  const Running* running() const { return running_ ? &*running_ : nullptr; }
  // Null: the answer is not of the training that runs.
  const Running* expected(Token token) const {
    return running_ && running_->token == token ? &*running_ : nullptr;
  }
  // It has ended. Only while one runs.
  Running end() { return *std::exchange(running_, std::nullopt); }
  void forget() { running_.reset(); }

  // Keeps an expected answer until release().
  void keep(UpdateReady update) { kept_ = std::move(update); }
  bool keeps() const { return kept_.has_value(); }
  // Nothing where it is not expected any more.
  std::optional<UpdateReady> release();

 private:
  AgentContext& context_;
  std::optional<Running> running_;
  std::optional<UpdateReady> kept_;
  Token last_token_ = 0;
};

}  // namespace tributary
