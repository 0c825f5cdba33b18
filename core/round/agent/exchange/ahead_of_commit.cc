#include "core/round/agent/exchange/ahead_of_commit.h"

#include <algorithm>
#include <utility>

#include "core/base/copy_on_write.h"
#include "core/round/common/plan/round_steps.h"

namespace tributary {

void AheadOfCommit::begin() {
  if (ahead_) return;
  ahead_ = replica_.go_ahead();
  own(ahead_->model);
}

bool AheadOfCommit::has_next(const AgentRound& round) const {
  if (failed_ || complete(round)) return false;
  const BucketWork& work = round.work()[applied_.size()];
  return work.of_all && work.combined.size() == round.plan().buckets()[applied_.size()].stages();
}

Status AheadOfCommit::apply_next(AgentRound& round) {
  Status status = apply(round);
  failed_ = !status.ok();
  return status;
}

// The coordinator checks that a model after a star's round is finite before it commits the round.
// Peers vote on it.
Status AheadOfCommit::apply(AgentRound& round) {
  begin();
  const TimeNs began_at = context_.stopwatch_ns();
  const RoundPlan& plan = round.plan();
  const PlannedBucket& bucket = plan.buckets()[applied_.size()];
  // The rule begins once for each exchange, with its first bucket.
  const std::uint32_t begun = bucket.exchange + (bucket.place > 0 ? 1 : 0);
  const BucketWork& work = round.work()[bucket.index];
  const std::vector<ByteSpan> combined = work.spans(bucket.stages());
  RoundSteps steps(plan, context_.config.execution, *ahead_->rule, scratch_, own(ahead_->model),
                   begun);
  const CommittedBucket committed{.bucket = bucket.index,
                                  .divisor = plan.divisor_of_all(),
                                  .contributors = plan.agents(),
                                  .combined = combined};
  TRIBUTARY_TRY(plan.by_peers() ? steps.apply_checked(committed) : steps.apply(committed));
  applied_.push_back(work.combined.back());
  round.cost().decode_ns += context_.stopwatch_ns() - began_at;
  return {};
}

// The encoders of the last exchange are settled when the round is committed or closed.
Status AheadOfCommit::finish(AgentRound& round, std::uint32_t exchange) {
  const RoundPlan& plan = round.plan();
  const std::span<const PlannedBucket> buckets = plan.buckets_of(exchange);
  while (applied_.size() <= buckets.back().index) TRIBUTARY_TRY(apply_next(round));
  for (const PlannedBucket& bucket : buckets) {
    const std::vector<ByteSpan> combined = round.work()[bucket.index].spans(bucket.stages());
    encoders_.get(bucket, plan.key().epoch).settle(combined, true);
  }
  return {};
}

// A result that differed from the commit's was received again, so it is another object.
bool AheadOfCommit::becomes(const wire::CommitT& commit, AgentRound& round) {
  if (!begun()) return false;
  const wire::RoundOutcomeT& outcome = *commit.rounds[0];
  if (outcome.outcomes.size() != round.work().size()) return false;
  for (const auto& set : outcome.contributor_sets) {
    if (set->contributors != round.plan().agents() ||
        set->divisor != round.plan().divisor_of_all()) {
      return false;
    }
  }
  while (has_next(round)) {
    if (!apply_next(round).ok()) return false;
  }
  if (!complete(round)) return false;
  for (std::size_t i = 0; i < applied_.size(); ++i) {
    if (round.work()[i].combined.empty() || round.work()[i].combined.back() != applied_[i]) {
      return false;
    }
  }
  return true;
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
  applied_.clear();
  failed_ = false;
  input_.reset();
}

}  // namespace tributary
