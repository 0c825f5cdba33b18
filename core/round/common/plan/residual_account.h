// What an agent has not given away, and what it would have left if the contributions whose fate is
// open counted. Until they are decided the residual is that of the worse outcome: nothing is lost
// if the round is.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/round/common/machine/bitmap.h"
#include "core/round/common/machine/records.h"
#include "core/update/norm.h"

namespace tributary {

// A gradient's residual is in units of the learning rate of its round. Brings it from one rate to
// another, so that what waits still moves the model as far; 0 is no rate, and changes nothing.
void rescale_residual(double from_rate, double to_rate, std::span<float> residual);

class ResidualAccount {
 public:
  ResidualAccount() = default;
  // Of a model of so many values: nothing yet, which takes no memory.
  explicit ResidualAccount(std::uint64_t values) : count_(values) {}
  ResidualAccount(std::uint64_t values, const ReplicaRecord& record,
                  std::vector<UndecidedRound> undecided);

  // As it is now: later changes leave it alone. Null: zeros.
  SharedFloats shared() const { return values_; }
  std::span<const float> run(std::uint64_t first, std::uint64_t count) {
    if (!values_) values_ = std::make_shared<FloatVector>(count_, 0.0f);
    return std::span<const float>(*values_).subspan(first, count);
  }
  // Whether somebody else holds the values, such as a record that is being stored: to change them
  // would take a copy.
  bool held() const { return values_ && values_.use_count() > 1; }
  double norm() const { return values_ ? norm_of(*values_) : 0; }
  const ResidualStamp& stamp() const { return stamp_; }
  const std::vector<UndecidedRound>& undecided() const { return undecided_; }

  // residual += weight * update, in both outcomes of what is open.
  void add(std::uint64_t first, std::span<const float> update, float weight);
  // The same with an update of the whole model, which becomes the residual where there was none.
  void add(std::shared_ptr<FloatVector> update, float weight);
  // How many of the first values the round's update has still to be taken of.
  std::uint64_t missing(std::uint64_t round) const;
  // Of the round's update, everything from `first` on has been added.
  void took_update(std::uint64_t round, std::uint64_t first = 0);
  void belongs_to(std::uint64_t version) { stamp_.version = version; }
  // A gradient's residual is in units of its learning rate: brings it to this one. Only while
  // nothing is open.
  void rescale_to(double learning_rate, bool gradient);

  // The contribution of a bucket goes out.
  void open(const RoundKey& id, std::uint32_t agent_index, ContributionPart part);
  // The round is decided, and these buckets of it count; all other attempts at it, and all rounds
  // before it, do not.
  void settle(const RoundKey& id, const Bitmap& contributed);
  // The attempt does not count.
  void settle_excluded(const RoundKey& id);
  const UndecidedRound* find(const RoundKey& id) const;

 private:
  FloatVector& ours();
  void settle_parts(const UndecidedRound& round, const Bitmap& contributed);
  void add_to_undecided(std::uint64_t first, std::span<const float> update, float weight);

  std::uint64_t count_ = 0;
  std::shared_ptr<FloatVector> values_;  // null: zeros
  ResidualStamp stamp_;
  std::vector<UndecidedRound> undecided_;
};

}  // namespace tributary
