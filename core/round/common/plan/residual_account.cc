#include "core/round/common/plan/residual_account.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/copy_on_write.h"
#include "core/codec/error_feedback.h"

namespace tributary {

// The parts may be in units of a later learning rate than the residual, which was stored earlier.
ResidualAccount::ResidualAccount(std::uint64_t values, const ReplicaRecord& record,
                                 std::vector<UndecidedRound> undecided, bool gradient)
    : count_(values),
      values_(record.residual ? std::make_shared<FloatVector>(*record.residual) : nullptr),
      stamp_(record.residual_stamp),
      undecided_(std::move(undecided)) {
  for (UndecidedRound& round : undecided_) {
    const double rate = std::exchange(round.stamp.learning_rate, stamp_.learning_rate);
    if (stamp_.learning_rate == 0) stamp_.learning_rate = round.stamp.learning_rate = rate;
    if (!gradient || rate == 0 || rate == stamp_.learning_rate) continue;
    for (ContributionPart& part : round.parts) {
      if (!part.if_committed) continue;
      auto converted = std::make_shared<FloatVector>(*part.if_committed);
      rescale_residual(rate, stamp_.learning_rate, *converted);
      part.if_committed = std::move(converted);
    }
  }
}

// A lost update is one that was not taken, so that the agent trains again.
void ResidualAccount::bring_to_host() const {
  if (!on_device_) return;
  const std::shared_ptr<DeviceVector> sum = std::exchange(on_device_, nullptr);
  auto values = std::make_shared<FloatVector>(count_);
  if (Status status = sum->read(0, *values); !status.ok()) {
    lost_ = std::move(status);
    stamp_.update_round = stamp_.part_round = 0;
    return;
  }
  values_ = std::move(values);
}

double ResidualAccount::norm() const {
  if (on_device_) {
    if (const Result<double> norm = on_device_->norm(); norm.ok()) return *norm;
    bring_to_host();
  }
  return values_ ? norm_of(*values_) : 0;
}

// A writable residual. It is copied first if a record that is being stored still shares it.
FloatVector& ResidualAccount::writable_values() {
  bring_to_host();
  if (!values_) values_ = std::make_shared<FloatVector>(count_, 0.0f);
  return own(values_);
}

void ResidualAccount::add(std::uint64_t first, std::span<const float> update, float weight) {
  if (update.empty()) return;
  add_weighted(update, weight, std::span(writable_values()).subspan(first, update.size()));
  add_to_undecided(first, update, weight);
}

// Without a residual the update becomes the residual, which saves a vector of the model's size.
void ResidualAccount::add(std::shared_ptr<FloatVector> update, float weight) {
  bring_to_host();
  if (values_) return add(0, *update, weight);
  add_to_undecided(0, *update, weight);
  values_ = std::move(update);
  if (weight == 1) return;
  for (float& value : own(values_)) value *= weight;
}

Status ResidualAccount::add(const std::shared_ptr<DeviceVector>& update, float weight) {
  if (!values_ && weight == 1) {
    on_device_ = update;
    return {};
  }
  const auto before = values_ ? std::span<const float>(*values_) : std::span<const float>();
  TRIBUTARY_ASSIGN(on_device_, update->plus(before, weight));
  return {};
}

// An update that arrives while a round is undecided is not part of that round's payload. It must
// survive in both outcomes: in the residual, and in the remainder that a commit would leave.
void ResidualAccount::add_to_undecided(std::uint64_t first, std::span<const float> update,
                                       float weight) {
  for (UndecidedRound& round : undecided_) {
    for (ContributionPart& part : round.parts) {
      const std::uint64_t from = std::max(part.first_value, first);
      const std::uint64_t to = std::min(part.first_value + part.values, first + update.size());
      if (from >= to) continue;
      // The value may be shared with a record that is being stored, so it is copied, not changed.
      auto changed = part.if_committed ? std::make_shared<FloatVector>(*part.if_committed)
                                       : std::make_shared<FloatVector>(part.values, 0.0f);
      add_weighted(update.subspan(from - first, to - from), weight,
                   std::span(*changed).subspan(from - part.first_value, to - from));
      part.if_committed = std::move(changed);
    }
  }
}

void ResidualAccount::drop(std::uint64_t first, std::uint64_t count, std::span<float> change) {
  bring_to_host();
  if (!values_) return;
  const std::span<float> run = std::span(writable_values()).subspan(first, count);
  FloatVector opposite(count);
  for (std::uint64_t i = 0; i < count; ++i) opposite[i] = -std::exchange(run[i], 0.0f);
  add_to_undecided(first, opposite, 1);
  add_weighted(opposite, 1, change.subspan(first, count));
  // Without any of its values, the round's update is as if it had not been taken.
  if (count == count_) stamp_.update_round = stamp_.part_round = 0;
}

std::uint64_t ResidualAccount::missing(std::uint64_t round) const {
  if (stamp_.update_round == round) return 0;
  return stamp_.part_round == round ? stamp_.part_first : count_;
}

void ResidualAccount::took_update(std::uint64_t round, std::uint64_t first) {
  ++stamp_.updates_taken;
  lost_ = {};
  if (first == 0) {
    stamp_.update_round = round;
  } else {
    stamp_.part_round = round;
    stamp_.part_first = first;
  }
}

void rescale_residual(double from_rate, double to_rate, std::span<float> residual) {
  if (from_rate == 0 || to_rate == 0 || from_rate == to_rate) return;
  // A residual of gradients is in units of the learning rate at which it was held back. Scaling
  // keeps the step that it will cause.
  const auto factor = static_cast<float>(from_rate / to_rate);
  for (float& value : residual) value *= factor;
}

double bound_norm(std::shared_ptr<FloatVector>& update, double norm_max) {
  const double norm = norm_of(*update);
  if (norm_max <= 0 || !std::isfinite(norm) || norm <= norm_max) return norm;
  scale_to_norm(own(update), norm, norm_max);
  return norm_max;
}

void ResidualAccount::rescale_to(double learning_rate, bool gradient) {
  const double old = std::exchange(stamp_.learning_rate, learning_rate);
  if (gradient && old != learning_rate) bring_to_host();
  if (values_ && gradient && old != learning_rate) {
    rescale_residual(old, learning_rate, own(values_));
  }
}

void ResidualAccount::open(const RoundKey& id, std::uint32_t agent_index, ContributionPart part) {
  auto found = std::ranges::find(undecided_, id, &UndecidedRound::id);
  if (found == undecided_.end()) {
    undecided_.push_back({.id = id, .agent_index = agent_index, .parts = {}});
    found = std::prev(undecided_.end());
  }
  found->parts.push_back(std::move(part));
  found->stamp = stamp_;
}

const UndecidedRound* ResidualAccount::find(const RoundKey& id) const {
  const auto found = std::ranges::find(undecided_, id, &UndecidedRound::id);
  return found == undecided_.end() ? nullptr : &*found;
}

// Parts that did not contribute stay in the residual as they are.
void ResidualAccount::settle_parts(const UndecidedRound& round, const Bitmap& contributed) {
  std::uint64_t given_away = 0;
  std::uint64_t settled = 0;
  std::uint64_t covered = 0;  // all values before this one are settled
  for (const ContributionPart& part : round.parts) {
    if (!contributed.test(part.bucket)) continue;
    settled += part.values;
    if (part.first_value == covered) covered += part.values;
    if (!part.if_committed) given_away += part.values;
  }
  // The parts of all buckets replace the whole residual.
  if (settled == count_) on_device_.reset();
  // If the whole model was sent without loss, the residual becomes null instead of a vector of
  // zeros.
  if (given_away == count_) return values_.reset();
  // A residual that a record still shares is not copied if nothing of it remains.
  if (covered == count_ && values_.use_count() != 1) {
    values_ = std::make_shared<FloatVector>(count_);
  }
  for (const ContributionPart& part : round.parts) {
    if (!contributed.test(part.bucket)) continue;
    const std::span<float> bucket =
        std::span(writable_values()).subspan(part.first_value, part.values);
    if (part.if_committed) {
      std::ranges::copy(*part.if_committed, bucket.begin());
    } else {
      std::ranges::fill(bucket, 0.0f);
    }
  }
}

// A process that ended has lost the updates that its residual had not stored. Those in a counted
// contribution are not lost: they are in the model and in the parts.
void ResidualAccount::take_stamp(const ResidualStamp& stamp) {
  if (stamp.updates_taken <= stamp_.updates_taken) return;
  stamp_.updates_taken = stamp.updates_taken;
  stamp_.update_round = stamp.update_round;
  stamp_.part_round = stamp.part_round;
  stamp_.part_first = stamp.part_first;
}

void ResidualAccount::settle(const RoundKey& id, const Bitmap& contributed) {
  if (const UndecidedRound* round = find(id)) {
    if (contributed.count() > 0) take_stamp(round->stamp);
    settle_parts(*round, contributed);
  }
  // Rounds are committed in order, so every earlier undecided round and every other attempt at this
  // one has failed or was settled.
  std::erase_if(undecided_, [&](const UndecidedRound& r) { return r.id.round <= id.round; });
}

// The round ended without this contribution. Only this attempt is removed: another attempt at the
// round may still be undecided.
void ResidualAccount::settle_excluded(const RoundKey& id) {
  std::erase_if(undecided_, [&](const UndecidedRound& round) { return round.id == id; });
}

}  // namespace tributary
