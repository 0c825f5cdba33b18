#include "core/round/agent/exchange/ahead_of_commit.h"

#include <algorithm>
#include <utility>

#include "core/base/copy_on_write.h"
#include "core/round/common/plan/round_steps.h"

namespace tributary {

Status AheadOfCommit::apply(AgentRound& round, std::uint32_t exchange) {
  const RoundPlan& plan = round.plan();
  if (!ahead_) {
    TRIBUTARY_ASSIGN(ahead_, replica_.go_ahead());
  }
  const TimeNs began_at = context_.stopwatch_ns();
  const bool last = exchange + 1 == plan.exchanges();
  FloatVector& model = own(ahead_->model);
  RoundSteps steps(plan, context_.config.execution, *ahead_->rule, scratch_, model, exchange);
  for (const PlannedBucket& bucket : plan.buckets_of(exchange)) {
    const std::vector<ByteSpan> combined = round.work()[bucket.index].spans(bucket.stages());
    const CommittedBucket counted{.bucket = bucket.index,
                                  .divisor = plan.divisor_of_all(),
                                  .contributors = plan.agents(),
                                  .combined = combined};
    TRIBUTARY_TRY(steps.apply_checked(counted));
    // The encoders of the last exchange are settled when the round is committed or closed.
    if (!last) encoders_.get(bucket, plan.key().epoch).settle(combined, true);
  }
  round.cost().decode_ns += context_.stopwatch_ns() - began_at;
  return {};
}

void AheadOfCommit::leave(const std::vector<ContributionPart>& parts) {
  input_ = std::make_shared<FloatVector>(replica_.job()->values(), 0.0f);
  for (const ContributionPart& part : parts) {
    if (!part.if_committed) continue;
    std::ranges::copy(*part.if_committed,
                      input_->begin() + static_cast<std::ptrdiff_t>(part.first_value));
  }
}

void AheadOfCommit::add_to_input(std::span<const float> update, float weight) {
  std::size_t i = 0;
  for (float& value : own(input_)) value += weight * update[i++];
}

void AheadOfCommit::clear() {
  ahead_.reset();
  input_.reset();
}

}  // namespace tributary
