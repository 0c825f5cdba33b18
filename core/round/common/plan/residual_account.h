// The part of an agent's updates that has not reached the model (the residual), and the residual
// that remains if undecided contributions count. Until a round is decided, the residual is the one
// for the case that the contribution does not count, so a lost round loses nothing.
//
// The residual with an update of a device may stay there. Every function that needs its values on
// the host copies them, once. If the device has failed, that update is lost: the residual is the
// one before it, as if the update had not been taken (lost()). Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/codec/device/device_vector.h"
#include "core/round/common/machine/bitmap.h"
#include "core/round/common/machine/records.h"
#include "core/update/norm.h"

namespace tributary {

// Converts a residual from the units of one learning rate to those of another, so that it still
// moves the model by the same amount. A gradient's residual is in units of the rate of its round. A
// rate of 0 is unknown and changes nothing.
void rescale_residual(double from_rate, double to_rate, std::span<float> residual);

// Scales an update down to the norm `norm_max` if its norm is larger. 0: no bound. A norm that is
// not finite changes nothing. Returns the norm of the result. Copies the update if another owner
// holds it.
double bound_norm(std::shared_ptr<FloatVector>& update, double norm_max);

class ResidualAccount {
 public:
  ResidualAccount() = default;
  // A residual of zeros for a model of `values` values. It takes no memory until the first change.
  explicit ResidualAccount(std::uint64_t values) : count_(values) {}
  // Continues from a stored replica and its undecided rounds. `gradient`: the values are in units
  // of a learning rate.
  ResidualAccount(std::uint64_t values, const ReplicaRecord& record,
                  std::vector<UndecidedRound> undecided, bool gradient);

  // The current residual, shared. Later changes copy it first. Null: zeros.
  SharedFloats shared() const {
    bring_to_host();
    return values_;
  }
  // A part of the residual. Allocates it if it is null.
  std::span<const float> run(std::uint64_t first, std::uint64_t count) {
    bring_to_host();
    if (!values_) values_ = std::make_shared<FloatVector>(count_, 0.0f);
    return std::span<const float>(*values_).subspan(first, count);
  }
  // True if another owner, such as a record that is being stored, shares the values. The next
  // change then copies them.
  bool held() const { return values_ && values_.use_count() > 1; }
  double norm() const;
  const ResidualStamp& stamp() const { return stamp_; }
  const std::vector<UndecidedRound>& undecided() const { return undecided_; }

  // residual += weight * update, also in the outcomes of undecided rounds.
  void add(std::uint64_t first, std::span<const float> update, float weight);
  // The same with an update of the whole model. It becomes the residual, without a copy, if the
  // residual was zero.
  void add(std::shared_ptr<FloatVector> update, float weight);
  // The same with an update on a device, where the sum stays. Requires that no round is undecided
  // and that no sum is on a device. After an error neither has changed.
  Status add(const std::shared_ptr<DeviceVector>& update, float weight);
  // The residual if it is on a device; otherwise null.
  DeviceVector* on_device() const { return on_device_.get(); }
  // The error by which the last update was lost with its device; ok: it was not.
  const Status& lost() const { return lost_; }
  // Sets values of the residual to zero. The outcomes of undecided rounds change by the same
  // amount, which is added to `change` as well; `change` has the length of the model.
  void drop(std::uint64_t first, std::uint64_t count, std::span<float> change);
  // Records that values were dropped; this counts as an update.
  void dropped() { ++stamp_.updates_taken; }
  // Number of values, from the start of the model, that the round's update has still to be added
  // to.
  std::uint64_t missing(std::uint64_t round) const;
  // Records that the round's update was added from value `first` to the end.
  void took_update(std::uint64_t round, std::uint64_t first = 0);
  void belongs_to(std::uint64_t version) { stamp_.version = version; }
  // Converts a gradient's residual to the units of this learning rate. Requires that no round is
  // undecided.
  void rescale_to(double learning_rate, bool gradient);

  // Adds an undecided bucket, before its payload is sent.
  void open(const RoundKey& id, std::uint32_t agent_index, ContributionPart part);
  // Settles a decided round in which these buckets count. All other attempts at it, and all earlier
  // rounds, count as excluded.
  void settle(const RoundKey& id, const Bitmap& contributed);
  // Settles an attempt that does not count.
  void settle_excluded(const RoundKey& id);
  // The undecided round with this id, or null.
  const UndecidedRound* find(const RoundKey& id) const;

 private:
  void bring_to_host() const;
  FloatVector& writable_values();
  void settle_parts(const UndecidedRound& round, const Bitmap& contributed);
  void take_stamp(const ResidualStamp& stamp);
  void add_to_undecided(std::uint64_t first, std::span<const float> update, float weight);

  std::uint64_t count_ = 0;
  mutable std::shared_ptr<FloatVector> values_;  // null: zeros
  // The residual with an update that `values_` lacks; null: `values_` is the residual.
  mutable std::shared_ptr<DeviceVector> on_device_;
  mutable Status lost_;
  mutable ResidualStamp stamp_;
  std::vector<UndecidedRound> undecided_;
};

}  // namespace tributary
