#include "core/round/agent/round/local_training.h"

namespace tributary {

void LocalTraining::start(const std::shared_ptr<const RoundPlan>& plan, std::uint32_t exchange,
                          std::uint64_t model_version, SharedFloats model) {
  const RoundKey& key = plan->key();
  const wire::PlanT& settings = plan->wire();
  running_ = Running{.token = ++last_token_, .plan = plan, .exchange = exchange};
  context_.out.add(Train{.token = running_->token,
                         .id = key,
                         .training = (key.round - 1) * plan->exchanges() + exchange + 1,
                         .model_version = model_version,
                         .model = std::move(model),
                         .local_steps = settings.local_steps,
                         .learning_rate = settings.learning_rate,
                         .seed = settings.seed,
                         .evaluate = settings.evaluate && exchange == 0});
}

std::optional<UpdateReady> LocalTraining::release() {
  std::optional<UpdateReady> update = std::exchange(kept_, std::nullopt);
  if (update && !expected(update->token)) update.reset();
  return update;
}

}  // namespace tributary
