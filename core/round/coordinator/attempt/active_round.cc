#include "core/round/coordinator/attempt/active_round.h"

#include <algorithm>
#include <utility>

#include "core/round/common/plan/results_hash.h"

namespace tributary {

Status ActiveRound::begin(const Execution& execution, std::span<float> residual,
                          const RoundStart& start) {
  awaited_.assign(plan_->buckets().size(), 0);
  for (const PlannedBucket& bucket : plan_->buckets()) {
    const bool encodes_again = bucket.codec->aggregation() != Aggregation::sum;
    // An aggregator that adds without decoding loses nothing, so it needs no residual.
    const bool keeps = !residual.empty() && encodes_again && bucket.keeps_error();
    buckets_.push_back(std::make_unique<BucketAggregation>(
        *plan_, bucket, execution,
        keeps ? residual.subspan(bucket.first_value, bucket.values) : std::span<float>(), start));
    TRIBUTARY_TRY(buckets_.back()->begin());
  }
  return {};
}

// `all` stays true only if no present member is without a payload. Late members are present and not
// awaited: the stage then needs the quorum.
bool ActiveRound::complete(const BucketAggregation& bucket) const {
  if (bucket.takes_one() && bucket.contributors() > 0) return true;
  std::uint32_t& awaited = awaited_[bucket.bucket().index];
  if (awaited < members_.size() && awaits(bucket, awaited)) return false;
  bool all = true;
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    if (bucket.has(i)) continue;
    if (awaits(bucket, i)) {
      awaited = i;
      return false;
    }
    all &= !members_[i].present();
  }
  return all || bucket.contributors() >= least(bucket);
}

bool ActiveRound::awaits(const BucketAggregation& bucket, std::uint32_t member) const {
  const RoundMember& state = members_[member];
  if (!state.present() || bucket.has(member)) return false;
  return !state.missed_stage || (bucket.stage() > *state.missed_stage && bucket.in_step(member));
}

// Late members may send standalone payloads, which take no part in the stages before the last.
std::uint32_t ActiveRound::least(const BucketAggregation& bucket) const {
  if (bucket.takes_one()) return 1;
  const std::uint32_t quorum = plan_->wire().quorum;
  if (bucket.at_last_stage() || !bucket.bucket().allows_standalone) return quorum;
  return quorum - std::min(quorum - 1, late_);
}

void ActiveRound::miss(std::uint32_t member, std::uint32_t stage) {
  std::optional<std::uint32_t>& missed = members_[member].missed_stage;
  if (!missed) ++late_;
  missed = std::max(missed.value_or(0), stage);
}

void ActiveRound::await_again(std::uint32_t member) {
  if (members_[member].missed_stage) --late_;
  members_[member].missed_stage.reset();
}

bool ActiveRound::any_open() const {
  return std::ranges::any_of(buckets_, [](const auto& bucket) { return bucket->open(); });
}

std::uint64_t ActiveRound::results_hash() const {
  ResultsHash hash;
  for (const auto& bucket : buckets_) hash.add(bucket->combined());
  return hash.finish();
}

Bitmap ActiveRound::suspects() const {
  Bitmap suspects(members_.size());
  for (const auto& bucket : buckets_) {
    if (bucket->not_finite()) suspects.add(bucket->involved());
  }
  return suspects;
}

std::uint64_t ActiveRound::bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& bucket : buckets_) bytes += bucket->bytes();
  return bytes;
}

void ActiveRound::count_part(RoundMember& member, const UploadedPart& part, TimeNs now,
                             TimeNs round_trip_ns) {
  bytes_up += part.bytes;
  sizes_.take(member.upload, part, now, round_trip_ns);
  // The first part's bytes are not counted, because the time before it includes training and
  // encoding.
  if (std::exchange(member.part_arrived, true)) {
    member.bytes_after_first += part.bytes;
  } else {
    member.first_part_at_ns = now;
  }
  member.last_part_at_ns = now;
}

}  // namespace tributary
