#include "core/round/agent/round/local_training.h"

namespace tributary {
namespace {

Train order_of(const RoundPlan& plan, std::uint64_t round, std::uint32_t exchange,
               SharedFloats model) {
  const wire::PlanT& settings = plan.wire();
  RoundKey id = plan.key();
  id.round = round;
  return {.token = 0,
          .id = id,
          .training = (round - 1) * plan.exchanges() + exchange + 1,
          .model_version = round - 1,
          .model = std::move(model),
          .local_steps = settings.local_steps,
          .learning_rate = settings.learning_rate,
          .seed = settings.seed,
          .evaluate = settings.evaluate && exchange == 0};
}

// True if both give the same update. A model is the same only if it is the same object: the replica
// takes over the model that its agent has applied ahead.
bool is_same_training(const Train& a, const Train& b) {
  return a.id.job == b.id.job && a.training == b.training && a.model_version == b.model_version &&
         a.model == b.model && a.local_steps == b.local_steps &&
         a.learning_rate == b.learning_rate && a.seed == b.seed && a.evaluate == b.evaluate;
}

}  // namespace

bool LocalTraining::start(const std::shared_ptr<const RoundPlan>& plan, std::uint32_t exchange,
                          std::uint64_t model_version, SharedFloats model) {
  Train order = order_of(*plan, plan->key().round, exchange, std::move(model));
  order.model_version = model_version;
  std::optional<Ahead> ahead = std::exchange(ahead_, std::nullopt);
  if (ahead && is_same_training(ahead->request, order)) {
    running_ = Running{.token = ahead->request.token, .plan = plan, .exchange = exchange};
    kept_ = std::move(ahead->update);
    context_.out.note(LogLevel::debug, "trained_ahead", kept_ ? "ready" : "running",
                      "the training of this round has begun before its plan");
    return true;
  }
  order.token = ++last_token_;
  running_ = Running{.token = order.token, .plan = plan, .exchange = exchange};
  context_.out.add(std::move(order));
  return false;
}

void LocalTraining::start_ahead(const RoundPlan& plan, bool evaluate, SharedFloats model) {
  Train order = order_of(plan, plan.key().round + 1, 0, std::move(model));
  order.token = ++last_token_;
  order.evaluate = evaluate;
  ahead_ = Ahead{.request = order, .update = std::nullopt};
  context_.out.add(std::move(order));
}

bool LocalTraining::take_ahead(UpdateReady& update) {
  if (!ahead_ || ahead_->request.token != update.token) return false;
  ahead_->update = std::move(update);
  return true;
}

bool LocalTraining::ahead_failed(Token token) {
  if (!ahead_ || ahead_->request.token != token) return false;
  ahead_.reset();
  return true;
}

std::optional<UpdateReady> LocalTraining::release() {
  std::optional<UpdateReady> update = std::exchange(kept_, std::nullopt);
  if (update && !expected(update->token)) update.reset();
  return update;
}

}  // namespace tributary
