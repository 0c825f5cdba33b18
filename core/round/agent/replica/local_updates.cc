#include "core/round/agent/replica/local_updates.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/copy_on_write.h"
#include "core/codec/finite.h"

namespace tributary {
namespace {

Status not_of_this_job(std::string what, std::string expected, std::string got) {
  return Status(StatusCode::corrupt_data, {.what = std::move(what),
                                           .expected = std::move(expected),
                                           .got = std::move(got),
                                           .remedy = "have it sent again"});
}

// Written so that no sum can overflow: the numbers come from a file.
bool lies_within(const ContributionPart& part, std::uint64_t values) {
  return part.first_value <= values && part.values <= values - part.first_value &&
         (!part.if_committed || part.if_committed->size() == part.values);
}

}  // namespace

void LocalUpdates::begin_job(std::uint64_t values) {
  values_ = values;
  residual_ = ResidualAccount(values);
  drop_update();
  left_over_ = false;
  marked_.clear();
}

Status LocalUpdates::restore(const JobModel& job, ReplicaRecord& stored,
                             std::vector<UndecidedRound> undecided) {
  const std::uint64_t values = job.values();
  if (stored.residual && stored.residual->size() != values) {
    return not_of_this_job("residual of the agent's journal", fmt::format("{} values", values),
                           "another number");
  }
  for (const UndecidedRound& round : undecided) {
    for (const ContributionPart& part : round.parts) {
      if (lies_within(part, values)) continue;
      return not_of_this_job("contribution in the agent's journal", "values of the model",
                             "others");
    }
  }
  values_ = values;
  residual_ = ResidualAccount(values, stored, std::move(undecided), job.gradient());
  stored.residual.reset();
  return {};
}

// --- updates -----------------------------------------------------------------------------------

bool LocalUpdates::take_part(const RoundPlan& trained, const RoundPlan& active,
                             const UpdatePart& part) {
  // Without a residual, adding a part would need memory for a second model.
  if (!residual_.shared()) return false;
  const std::uint64_t round = trained.key().round;
  const std::uint64_t missing = residual_.missing(round);
  const std::uint64_t first = part.first_value;
  if (!part.update || part.update->size() != values_ || first == 0 || first >= missing) {
    return false;
  }
  // A part is only worth adding if it completes the input of some bucket, which can then be encoded
  // while training continues. Otherwise adding it later, together with more values, costs less.
  const bool frees_bucket = std::ranges::any_of(active.buckets(), [&](const PlannedBucket& bucket) {
    return bucket.first_value >= first && bucket.first_value < missing;
  });
  if (!frees_bucket) return false;
  const auto run = std::span<const float>(*part.update).subspan(first, missing - first);
  // A part with values beyond the limit is not added; the complete update is checked when it
  // arrives.
  if (!within_magnitude(run, update_norm_max(active.agents()))) return false;
  residual_.add(first, run, static_cast<float>(trained.wire().weight));
  residual_.took_update(round, first);
  return true;
}

void LocalUpdates::take(const RoundPlan& trained, std::uint32_t exchange,
                        std::shared_ptr<FloatVector> update) {
  const auto weight = static_cast<float>(trained.wire().weight);
  const std::uint64_t round = trained.key().round;
  const std::uint64_t missing = exchange > 0 ? values_ : residual_.missing(round);
  // Four cases. A later exchange of a round adds to what the exchanges before it have taken: if the
  // round fails, the next attempt sends all of it. A plan with codecs that keep their own memory
  // needs the bare update beside the residual. An update whose end was added in parts adds its
  // beginning. A complete update is moved without a copy if possible.
  if (exchange > 0 && (trained.conserves() || update_on_host())) {
    take_beside(trained, *update, weight);
    add_outside_residual(trained, *update, weight);
  } else if (!trained.conserves()) {
    FloatVector& values = own(update);
    // The end of the update was added to the residual in parts already.
    std::fill(values.begin() + static_cast<std::ptrdiff_t>(missing), values.end(), 0.0f);
    take_beside(trained, values, weight);
    for (float& value : values) value *= weight;
    drop_update();
    update_ = std::move(update);
  } else if (missing < values_) {
    residual_.add(0, std::span<const float>(*update).first(missing), weight);
  } else {
    residual_.add(std::move(update), weight);
  }
  residual_.took_update(round);
  update_lost_ = {};
  left_over_ = true;
  outside_residual_ = runs_without_residual(trained);
}

// Without a part of it in the residual, an update beside the residual changes no other value.
bool LocalUpdates::can_stay_on_device(const RoundPlan& trained) const {
  if (trained.by_members() || residual_.missing(trained.key().round) != values_) return false;
  if (trained.conserves()) {
    return residual_.on_device() == nullptr && residual_.undecided().empty();
  }
  return std::ranges::none_of(trained.buckets(), &PlannedBucket::keeps_residual);
}

Status LocalUpdates::take_on_device(const RoundPlan& trained,
                                    const std::shared_ptr<DeviceVector>& update) {
  const auto weight = static_cast<float>(trained.wire().weight);
  if (trained.conserves()) {
    TRIBUTARY_TRY(residual_.add(update, weight));
  } else {
    std::shared_ptr<DeviceVector> weighted = update;
    if (weight != 1) {
      TRIBUTARY_ASSIGN(weighted, update->plus({}, weight));
    }
    drop_update();
    update_on_device_ = std::move(weighted);
  }
  residual_.took_update(trained.key().round);
  update_lost_ = {};
  left_over_ = true;
  outside_residual_ = runs_without_residual(trained);
  return {};
}

// A lost update is one of zeros that is not encoded: the agent trains again.
const SharedFloats& LocalUpdates::update_on_host() const {
  if (!update_on_device_) return update_;
  const std::shared_ptr<DeviceVector> from = std::exchange(update_on_device_, nullptr);
  auto values = std::make_shared<FloatVector>(values_, 0.0f);
  update_lost_ = from->read(0, *values);
  update_ = std::move(values);
  return update_;
}

void LocalUpdates::bring_to_host(const PlannedBucket& bucket) const {
  if (bucket.keeps_residual()) {
    static_cast<void>(residual_.shared());
  } else {
    static_cast<void>(update_on_host());
  }
}

void LocalUpdates::drop_update() {
  update_.reset();
  update_on_device_.reset();
}

std::vector<LocalUpdates::ValueRun> LocalUpdates::runs_without_residual(const RoundPlan& plan) {
  std::vector<ValueRun> runs;
  for (const PlannedBucket& bucket : plan.buckets_of(0)) {
    if (!bucket.keeps_residual()) {
      runs.push_back({.first = bucket.first_value, .values = bucket.values});
    }
  }
  return runs;
}

// Adds to the residual the values of the buckets that keep one.
void LocalUpdates::take_beside(const RoundPlan& plan, std::span<const float> update, float weight) {
  std::uint64_t at = 0;
  for (const PlannedBucket& bucket : plan.buckets_of(0)) {
    if (bucket.keeps_residual()) continue;
    residual_.add(at, update.subspan(at, bucket.first_value - at), weight);
    at = bucket.first_value + bucket.values;
  }
  residual_.add(at, update.subspan(at), weight);
}

// Adds the values of the buckets that keep no residual to those of the exchanges before.
void LocalUpdates::add_outside_residual(const RoundPlan& plan, std::span<const float> update,
                                        float weight) {
  if (plan.conserves()) return;
  auto sum = std::make_shared<FloatVector>(*update_on_host());  // an exchange may hold the old one
  for (const ValueRun& run : runs_without_residual(plan)) {
    for (std::uint64_t i = run.first; i < run.first + run.values; ++i) {
      (*sum)[i] += weight * update[i];
    }
  }
  update_ = std::move(sum);
}

// An update that was trained for an earlier round can serve this one, provided that the same
// buckets keep a residual in both plans: the values outside the residual exist only for the old
// division.
bool LocalUpdates::has_update_of(const RoundPlan& plan) const {
  if (!lost().ok()) return false;
  const bool beside = update_ != nullptr || update_on_device_ != nullptr;
  if (residual_.stamp().update_round == plan.key().round) return plan.conserves() || beside;
  return left_over_ && outside_residual_ == runs_without_residual(plan) &&
         (outside_residual_.empty() || beside);
}

void LocalUpdates::round_ended(bool counted) {
  if (counted) left_over_ = false;
  if (!left_over_) drop_update();
}

std::span<const float> LocalUpdates::input_of(const PlannedBucket& bucket) {
  if (bucket.keeps_residual()) return residual_.run(bucket.first_value, bucket.values);
  return std::span<const float>(*update_on_host()).subspan(bucket.first_value, bucket.values);
}

// --- dropping ----------------------------------------------------------------------------------

SharedFloats LocalUpdates::drop_marked() {
  const std::vector<ValueRun> marked = std::exchange(marked_, {});
  if (marked.empty()) return nullptr;
  drop_update();
  left_over_ = false;
  if (!residual_.shared()) return nullptr;
  auto change = std::make_shared<FloatVector>(values_, 0.0f);
  for (const ValueRun& run : marked) residual_.drop(run.first, run.values, *change);
  residual_.dropped();
  return change;
}

float update_norm_max(std::uint32_t agents) { return addend_max(agents) / 2; }

// --- settling ----------------------------------------------------------------------------------

// All or nothing: the loop collects an outcome for every undecided round up to the offered version
// before it changes anything. A missing outcome leaves the residual as it was.
Status LocalUpdates::settle_by(const wire::TransferOfferT& offer) {
  std::vector<RoundKey> open;
  for (const UndecidedRound& round : residual_.undecided()) {
    if (round.id.round <= offer.model_version) open.push_back(round.id);
  }
  std::ranges::sort(open);
  std::map<std::uint64_t, const wire::SettlementT*> offered;
  for (const RoundKey& key : open) {
    for (const auto& settlement : offer.settled) {
      if (settlement->id->round() != key.round) continue;
      const wire::SettlementT*& best = offered[key.round];
      // The settlement of another attempt at the round also decides this one: it does not count.
      if (!best || key_of(*settlement->id) == key) best = settlement.get();
    }
    if (offered[key.round]) continue;
    return Status(StatusCode::not_found, {.what = "outcome of " + text(key),
                                          .expected = "an outcome in the offer",
                                          .got = "nothing",
                                          .remedy = "send Hello again with the undecided rounds"});
  }
  for (const auto& [round, settlement] : offered) {
    const bool counted = settlement->committed &&
                         Bitmap(settlement->contributed_bits, settlement->buckets).count() > 0;
    round_ended(counted);
    residual_.settle(key_of(*settlement->id),
                     settlement->committed
                         ? Bitmap(settlement->contributed_bits, settlement->buckets)
                         : Bitmap(settlement->buckets));
  }
  return {};
}

}  // namespace tributary
