// A copy of an agent's replica in the memory of the device that decodes results: model, state of
// the rule, and the sum of one bucket. The sums are decoded there and the rule makes its step
// there, so no sum passes through host memory; the new model and the rule's new state are copied to
// the host, where they are hashed, stored and trained from.
//
// The host's replica does not change before all of it is copied. If the device fails at any moment,
// the caller applies the same round to the host's replica, and nothing is lost. The copy follows
// the replica from round to round; after anything else has changed the replica, it is copied anew.
// Not thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/round/common/plan/job_model.h"
#include "core/round/common/plan/round_plan.h"

namespace tributary {

class ReplicaOnDevice {
 public:
  // Uses the execution's device, if it has CodecDevice::optimizer().
  explicit ReplicaOnDevice(const Execution& execution) : execution_(execution) {}

  // The host's replica before a round.
  struct Before {
    const ModelId& id;
    const FloatVector& model;
    const ModelRule& rule;
  };
  struct After {
    std::shared_ptr<FloatVector> model;
    Bytes rule_state;
  };
  // Applies a round. Returns nothing if the caller must apply it: there is no device, it has
  // failed, or it decodes less than half of the values. `scratch` holds a bucket that the host
  // decodes.
  std::optional<After> apply(const RoundPlan& plan, const std::vector<CommittedBucket>& buckets,
                             const Before& before, FloatVector& scratch);
  // The replica now is what apply() has returned, with this version and hash.
  void follow(const ModelId& id) { id_ = id; }
  // Frees the copy.
  void drop();

 private:
  bool suits(const RoundPlan& plan, const std::vector<CommittedBucket>& buckets) const;
  Result<After> try_to_apply(const RoundPlan& plan, const std::vector<CommittedBucket>& buckets,
                             const Before& before, FloatVector& scratch);
  Status copy(const Before& before);
  Status apply_bucket(const RoundPlan& plan, const CommittedBucket& committed,
                      FloatVector& scratch);
  Result<std::span<float>> sum_of(const RoundPlan& plan, const CommittedBucket& committed,
                                  FloatVector& scratch);

  const Execution execution_;
  std::optional<ModelId> id_;  // of the copy; empty: there is none
  std::shared_ptr<DeviceVector> model_;
  std::unique_ptr<RuleOnDevice> rule_;
  std::shared_ptr<DeviceVector> sum_;  // null until the first bucket
};

}  // namespace tributary
