// Turns the results of a round into the model after it, bucket by bucket. The coordinator, every
// replica and the redo after a restart compute the model with it, so that all of them agree to the
// bit.
//
// The caller passes buckets in ascending order; buckets without a result are left out. On an error
// the model and the rule's state are partly changed. All references must outlive the object. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/round/common/plan/round_plan.h"

namespace tributary {

class RoundSteps {
 public:
  // `sum` is scratch. Exchanges before `first_exchange` are part of the model already.
  RoundSteps(const RoundPlan& plan, const Execution& execution, ModelRule& rule, FloatVector& sum,
             std::span<float> model, std::uint32_t first_exchange = 0)
      : plan_(plan),
        execution_(execution),
        rule_(rule),
        sum_(sum),
        model_(model),
        begun_(first_exchange) {}

  // Applies a bucket. Returns the error of a payload that cannot be decoded.
  Status apply(const CommittedBucket& committed);
  // The same for results that are not committed yet. Also returns not_finite if the step leaves a
  // value in the model, or in the rule's state for it, that is not finite.
  Status apply_checked(const CommittedBucket& committed);
  // The remaining exchanges have no more results.
  void finish() { begin_up_to(plan_.exchanges()); }

 private:
  void begin_up_to(std::uint32_t exchanges);

  const RoundPlan& plan_;
  const Execution execution_;
  ModelRule& rule_;
  FloatVector& sum_;
  const std::span<float> model_;
  std::uint32_t begun_;  // number of exchanges for which the rule has begun
};

// Applies a committed round. `sum` is scratch.
Status apply_round(const RoundPlan& plan, const std::vector<CommittedBucket>& buckets,
                   const Execution& execution, ModelRule& rule, FloatVector& sum,
                   std::span<float> model);

}  // namespace tributary
