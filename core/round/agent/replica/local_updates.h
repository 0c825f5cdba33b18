// Holds the updates of this agent that are not committed: the residual and, for a codec that does
// not conserve, those of the last round, which are sent once or dropped.
//
// The caller passes finite updates with the length of the job's model. Values that turn out to be
// too large for an encoding are dropped. Memory: at most one model for the residual and one for the
// update. An update is taken over without a copy unless another owner holds it. An update on a
// device may stay there, in the residual or beside it. Every function that needs its values on the
// host copies them, once. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/round/common/machine/events.h"
#include "core/round/common/plan/residual_account.h"
#include "core/round/common/plan/round_plan.h"

namespace tributary {

// The largest norm of an update that an agent takes in a round of so many agents, and of a residual
// to which it adds one. Their sum can then be added over all agents (core/codec/finite.h).
float update_norm_max(std::uint32_t agents);

class LocalUpdates {
 public:
  // The job has changed: drops everything of the previous one.
  void begin_job(std::uint64_t values);
  // Restores the stored residual and contributions. Returns corrupt_data if they do not fit the
  // job. Releases the stored residual after copying it.
  Status restore(const JobModel& job, ReplicaRecord& stored, std::vector<UndecidedRound> undecided);

  ResidualAccount& residual() { return residual_; }
  const ResidualAccount& residual() const { return residual_; }

  // --- updates ---

  // Adds the end of an update, from `part.first_value` on, if that makes a whole bucket of `active`
  // ready for encoding. Otherwise returns false and changes nothing.
  bool take_part(const RoundPlan& trained, const RoundPlan& active, const UpdatePart& part);
  // Adds the values of an update that were not added in parts. `trained` is the plan for which it
  // was trained. The update of a later exchange is always added whole.
  void take(const RoundPlan& trained, std::uint32_t exchange, std::shared_ptr<FloatVector> update);
  // Whether the whole update of this plan can stay on a device: no part of it was taken, and
  // nothing on the host changes with it.
  bool can_stay_on_device(const RoundPlan& trained) const;
  // Takes an update that stays there. After an error of the device nothing has changed.
  Status take_on_device(const RoundPlan& trained, const std::shared_ptr<DeviceVector>& update);
  // True if the residual with the last update, or the update beside it, is on a device.
  bool stays_on_device() const {
    return residual_.on_device() != nullptr || update_on_device_ != nullptr;
  }
  // The device's values from which input_of() takes those of the bucket; null: they are on the
  // host.
  DeviceVector* on_device(const PlannedBucket& bucket) const {
    return bucket.keeps_residual() ? residual_.on_device() : update_on_device_.get();
  }
  // Copies the values of on_device() to the host, or gives them up (lost()).
  void bring_to_host(const PlannedBucket& bucket) const;
  // The error by which the last update was lost with its device; ok: it was not.
  const Status& lost() const { return residual_.lost().ok() ? update_lost_ : residual_.lost(); }
  // True if the update of the plan's round is available in the form that the plan's codecs need, or
  // an earlier one is that no round has counted: it is sent without another training.
  bool has_update_of(const RoundPlan& plan) const;
  // A round is committed. `counted`: a part of this agent's contribution is in its result.
  // Otherwise an update that was taken stays for the next round.
  void round_ended(bool counted);
  // Marks values that cannot be encoded. They stay until drop_marked(), because a contribution with
  // them may still be undecided.
  void mark(std::uint64_t first_value, std::uint64_t values) {
    marked_.push_back({first_value, values});
  }
  void mark_all() { marked_.assign(1, {0, values_}); }
  // Drops the marked values of the residual, and the separate update. Returns the change of the
  // residual (ResidualDropped); null if nothing is marked or the residual is zero.
  SharedFloats drop_marked();

  // --- inputs of the encoders ---

  // The input of one bucket. Valid until the next change.
  std::span<const float> input_of(const PlannedBucket& bucket);
  // The input of all buckets, for a plan with one codec; null: zeros.
  SharedFloats input_of(const RoundPlan& plan) const {
    return plan.conserves() ? residual_.shared() : update_on_host();
  }
  // Holds every input that input_of() has returned, so that it stays valid and unchanged.
  std::vector<SharedFloats> hold() const { return {residual_.shared(), update_on_host()}; }

  // Settles the undecided rounds up to the offered model according to the offer; later rounds stay
  // undecided. Returns not_found if the offer lacks the outcome of a round.
  Status settle_by(const wire::TransferOfferT& offer);

 private:
  // A run of values of the model.
  struct ValueRun {
    std::uint64_t first = 0;
    std::uint64_t values = 0;
    friend bool operator==(const ValueRun&, const ValueRun&) = default;
  };

  // The update beside the residual, on the host.
  const SharedFloats& update_on_host() const;
  void drop_update();
  static std::vector<ValueRun> runs_without_residual(const RoundPlan& plan);
  void take_beside(const RoundPlan& plan, std::span<const float> update, float weight);
  void add_outside_residual(const RoundPlan& plan, std::span<const float> update, float weight);

  ResidualAccount residual_;
  std::uint64_t values_ = 0;     // number of values in the job's model
  mutable SharedFloats update_;  // of the last round, the sum over its exchanges; null: none
  // The update is on a device, and `update_` is null; null: it is not.
  mutable std::shared_ptr<DeviceVector> update_on_device_;
  mutable Status update_lost_;
  // The last update was taken, and no round has counted it. The buckets without a residual are
  // those of its plan, because only their values are in `update_` alone.
  bool left_over_ = false;
  std::vector<ValueRun> outside_residual_;
  std::vector<ValueRun> marked_;  // at most one per bucket of a round
};

}  // namespace tributary
