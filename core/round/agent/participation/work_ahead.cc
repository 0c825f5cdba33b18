#include "core/round/agent/participation/work_ahead.h"

namespace tributary {

// An agent that does not need the model before the commit applies the round then, in place.
bool WorkAhead::applies() const {
  if (!round_ || round_->withdrawn() || !round_->rank()) return false;
  const RoundPlan& plan = round_->plan();
  if (plan.exchanges() > 1) return true;
  if (plan.by_peers()) return context_.config.train_ahead;
  if (parts_.replica.job()->values() * sizeof(float) >= context_.config.large_model_bytes)
    return false;
  return !plan.in_network() && parts_.ahead.may_train_after(plan.key().round);
}

// When all that this agent has to send is on its way, it waits for results.
bool WorkAhead::can_begin() const {
  if (!applies() || parts_.ahead.begun() || parts_.ahead.failed()) return false;
  if (round_->plan().by_peers()) return parts_.exchange.running();
  return round_->working() && round_->all_encoded() && parts_.contribution.all_stored();
}

void WorkAhead::step() {
  if (!can_apply()) {
    if (can_begin()) parts_.ahead.begin();
    return;
  }
  check(parts_.ahead.apply_next(*round_));
  if (parts_.ahead.failed() || !parts_.ahead.complete(*round_)) return;
  applied_();
  train();
}

// In a star the coordinator finds the same error, and the other agents need no withdrawal to learn
// of it.
void WorkAhead::check(const Status& status) {
  if (status.ok() || !round_->plan().by_peers()) return;
  parts_.withdrawal.withdraw(*round_, wire::AbortReason::collective_failed, status);
}

// The settings of the next plan follow from this one, except the planner's, which do not concern
// training. A job whose learning rate is about to change trains when the plan is there.
void WorkAhead::train() {
  const RoundPlan& plan = round_->plan();
  const std::uint64_t round = plan.key().round;
  const JobModel& job = *parts_.replica.job();
  if (parts_.training.running() || !parts_.ahead.may_train_after(round)) return;
  const std::uint32_t every = job.wire().evaluate_every_rounds();
  parts_.training.start_ahead(plan, every > 0 && round % every == 0, parts_.ahead.model());
}

}  // namespace tributary
