#include "core/round/common/plan/round_steps.h"

#include <fmt/format.h>

#include <atomic>

#include "core/codec/chunks.h"
#include "core/update/finite.h"

namespace tributary {

void RoundSteps::begin_up_to(std::uint32_t exchanges) {
  for (; begun_ < exchanges; ++begun_) rule_.begin(plan_.key().round);
}

Status RoundSteps::apply(const CommittedBucket& committed) {
  const PlannedBucket& bucket = plan_.buckets()[committed.bucket];
  begin_up_to(bucket.exchange + 1);
  TRIBUTARY_TRY(decode_bucket(plan_, committed, execution_, sum_));
  rule_.apply({.first_value = bucket.first_value,
               .sum = sum_,
               .divisor = committed.divisor,
               .learning_rate = plan_.wire().learning_rate,
               .execution = execution_},
              model_);
  return {};
}

// A sum that is not finite leaves no finite step behind, so the sum needs no check of its own.
Status RoundSteps::apply_checked(const CommittedBucket& committed) {
  TRIBUTARY_TRY(apply(committed));
  const PlannedBucket& bucket = plan_.buckets()[committed.bucket];
  std::atomic<bool> finite = true;
  for_each_chunk(execution_, bucket.values, kChunkValues,
                 [&](std::size_t, std::size_t begin, std::size_t end) {
                   const std::uint64_t first = bucket.first_value + begin;
                   if (first_not_finite(model_.subspan(first, end - begin)) ||
                       !rule_.finite(first, end - begin)) {
                     finite = false;
                   }
                 });
  if (finite) return {};
  const auto bad = first_not_finite(model_.subspan(bucket.first_value, bucket.values));
  return Status(
      StatusCode::not_finite,
      {.what = fmt::format("bucket {}: {} after the step", committed.bucket,
                           bad ? fmt::format("value {} of the model", bucket.first_value + *bad)
                               : std::string("state of the optimizer")),
       .expected = "a finite number",
       .got = bad ? fmt::format("{}", model_[bucket.first_value + *bad]) : "NaN or Inf",
       .remedy = "lower the learning rate or clip the updates; nothing was committed"});
}

Status apply_round(const RoundPlan& plan, const std::vector<CommittedBucket>& buckets,
                   const Execution& execution, ModelRule& rule, FloatVector& sum,
                   std::span<float> model) {
  RoundSteps steps(plan, execution, rule, sum, model);
  for (const CommittedBucket& committed : buckets) TRIBUTARY_TRY(steps.apply(committed));
  steps.finish();
  return {};
}

}  // namespace tributary
