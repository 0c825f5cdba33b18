#include "tools/load/shared_replica.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "core/base/bytes/checksum.h"
#include "core/round/common/plan/round_steps.h"
#include "core/round/common/plan/standalone_payload.h"
#include "core/train/synthetic_trainer.h"

namespace tributary {
namespace {

Status differs(std::string what, std::string expected) {
  return Status(StatusCode::mismatch, {.what = std::move(what),
                                       .expected = std::move(expected),
                                       .got = "something else",
                                       .remedy = {}});
}

// A share of 1 keeps everything and needs no support from the codec.
Status check_keep(const Codec& codec, double keep) {
  if (keep == 1) return {};
  return check_shares(codec, wire::Collective::star, std::span(&keep, 1));
}

}  // namespace

// A payload

// Many agents receive the same payload in parts. The first copy of each byte is kept, and all later
// copies are compared with it, so that memory is that of one agent and every agent's bytes are
// still checked.
Status SharedPayload::take(std::uint64_t payload_bytes, std::uint64_t offset, ByteSpan part) {
  const std::lock_guard lock(mutex_);
  if (payload_bytes != bytes_.size() || offset > payload_bytes ||
      part.size() > payload_bytes - offset) {
    return differs("size of a payload", "the size that another agent received");
  }
  // After the payload has been moved out of `bytes_`, all of its bytes are known.
  const ByteRange range = {.first = offset, .count = part.size()};
  const std::vector<ByteRange> known =
      whole_ ? std::vector<ByteRange>{range} : bytes_.arrived(range);
  const ByteSpan before = whole_ ? ByteSpan(*whole_) : bytes_.bytes();
  for (const ByteRange& both : known) {
    if (!std::ranges::equal(before.subspan(both.first, both.count),
                            part.subspan(both.first - offset, both.count))) {
      return differs("part of a payload", "the bytes that another agent received");
    }
  }
  if (whole_) return {};
  bytes_.take(offset, part);
  if (bytes_.complete()) whole_ = std::make_shared<const Bytes>(bytes_.release());
  return {};
}

SharedBytes SharedPayload::whole() {
  const std::lock_guard lock(mutex_);
  return whole_;
}

// Job and model

Status SharedReplica::take_job(const wire::Job& job) {
  const std::lock_guard lock(mutex_);
  if (job_ && job_->job() == job.job() && job_->revision() == job.revision()) return {};
  wire::JobT unpacked;
  job.UnPackTo(&unpacked);
  TRIBUTARY_ASSIGN(SharedBytes definition, keep_message(std::move(unpacked)));
  TRIBUTARY_ASSIGN(job_, JobModel::make(std::move(definition)));
  TRIBUTARY_ASSIGN(rule_, make_model_rule(job_->wire()));
  if (job_->values() != values_) return differs("model of the job", "as many values as were asked");
  return {};
}

std::shared_ptr<SharedPayload> SharedReplica::place_of(const wire::TransferOfferT& offer) {
  const std::lock_guard lock(mutex_);
  if (!offered_.second || offered_.first != offer.hash) {
    offered_ = {offer.hash, std::make_shared<SharedPayload>(offer.bytes)};
  }
  return offered_.second;
}

Result<SharedModel> SharedReplica::take_model(const wire::TransferOfferT& offer,
                                              const SharedBytes& bytes) {
  const std::lock_guard lock(mutex_);
  if (model_.values && model_.id.version == offer.model_version &&
      model_.id.hash == offer.model_hash) {
    return model_;
  }
  if (hash64(*bytes) != offer.hash || bytes->size() < values_ * sizeof(float)) {
    return differs("transferred model", "the offer's");
  }
  auto values = std::make_shared<FloatVector>(values_);
  std::memcpy(values->data(), bytes->data(), values_ * sizeof(float));
  const std::uint64_t hash = model_hash_of(*values);
  if (hash != offer.model_hash) return differs("transferred model", "the offer's model hash");
  const SharedModel made{.id = {.version = offer.model_version, .hash = hash}, .values = values};
  // An agent that is behind may receive an older model. It gets that one, but the shared state
  // moves only forward.
  if (!model_.values || made.id.version > model_.id.version) {
    TRIBUTARY_TRY(rule_->restore(ByteSpan(*bytes).subspan(values_ * sizeof(float))));
    model_ = made;
  }
  offered_ = {};
  return made;
}

// Rounds

Result<std::shared_ptr<const RoundPlan>> SharedReplica::plan_of(const wire::Plan& plan) {
  const std::lock_guard lock(mutex_);
  if (!job_) return differs("plan", "a job before the plan");
  wire::PlanT unpacked;
  plan.UnPackTo(&unpacked);
  return RoundPlan::make(unpacked, *job_, codecs_);
}

// Only the newest round is kept here. Agents that still work on an older one own it by themselves.
std::shared_ptr<SharedRound> SharedReplica::round_of(const std::shared_ptr<const RoundPlan>& plan) {
  const std::lock_guard lock(mutex_);
  if (round_ && round_->plan->key() == plan->key()) return round_;
  auto round = std::make_shared<SharedRound>();
  round->plan = plan;
  if (!round_ || round_->plan->key() < plan->key()) round_ = round;
  return round;
}

std::shared_ptr<SharedPayload> SharedReplica::place_of(SharedRound& round, std::uint32_t bucket,
                                                       std::uint32_t stage, std::uint64_t bytes) {
  const std::lock_guard lock(round.mutex);
  std::shared_ptr<SharedPayload>& place = round.combined[{bucket, stage}];
  if (!place) place = std::make_shared<SharedPayload>(bytes);
  return place;
}

// Returns the number of different updates that the codec needs. If a payload names its sender, each
// agent needs its own.
std::uint32_t SharedReplica::updates_of(const Codec& codec) const {
  const auto stages = codec.stages();
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const bool names_its_sender = stages[i].combine == Combine::gather && i + 1 < stages.size();
    if (stages[i].combine == Combine::broadcast || names_its_sender) return agents_;
  }
  return std::min(kUpdates, agents_);
}

// Updates are made when they are first needed and never change. The caller holds the lock.
std::span<const float> SharedReplica::update(std::uint32_t number) {
  while (made_up_.size() <= number % kUpdates) {
    FloatVector values(values_);
    fill_synthetic_update(made_up_.size(), "load", 1, values);
    made_up_.push_back(std::move(values));
  }
  return made_up_[number % kUpdates];
}

Result<SharedBytes> SharedReplica::payload(SharedRound& round, const Sender& sender,
                                           std::uint32_t bucket,
                                           const std::vector<SharedBytes>& combined) {
  const PlannedBucket& planned = round.plan->buckets()[bucket];
  TRIBUTARY_TRY(check_keep(*planned.codec, sender.keep));
  const std::uint32_t updates = updates_of(*planned.codec);
  const bool own = updates == agents_;
  const SharedUpdate which = {.number = own ? sender.number : sender.number % updates,
                              .keep = sender.keep};
  const auto stage = static_cast<std::uint32_t>(combined.size());
  const std::lock_guard lock(mutex_);  // also protects the encoders
  if (const auto found = round.encoded.find({which, bucket, stage}); found != round.encoded.end()) {
    return found->second;
  }
  std::vector<ByteSpan> spans;
  for (const SharedBytes& each : combined) spans.emplace_back(*each);
  const std::uint32_t as = own ? sender.rank : std::min(which.number, round.plan->agents() - 1);
  const StageCall call = {
      .round = round.plan->context(planned, as), .combined = spans, .keep = which.keep};
  Bytes bytes;
  TRIBUTARY_TRY(
      encoders_[which]
          .get(planned, round.plan->key().epoch)
          .encode(call, update(which.number).subspan(planned.first_value, planned.values), bytes));
  SharedBytes payload;
  if (!bytes.empty()) payload = std::make_shared<const Bytes>(std::move(bytes));
  round.encoded[{which, bucket, stage}] = payload;
  return payload;
}

// Ratios may differ in every round, so the encoders of earlier ratios are dropped.
void SharedReplica::forget_shares(const SharedRound& round) {
  std::set<SharedUpdate> used;
  for (const auto& [place, payload] : round.encoded) used.insert(std::get<SharedUpdate>(place));
  std::erase_if(encoders_, [&](const auto& item) {
    return item.first.keep != 1 && !used.contains(item.first);
  });
}

Result<SharedModel> SharedReplica::apply(SharedRound& round, const wire::CommitT& commit,
                                         const AgentRound& received) {
  const std::lock_guard lock(mutex_);
  // The first agent applies the commit, and all others receive its result.
  if (round.after) return *round.after;
  if (model_.id.version + 1 != commit.model_version || model_.id.hash != commit.previous_hash) {
    return differs("model before a commit", "the commit's");
  }
  const wire::RoundOutcomeT& outcome = *commit.rounds[0];
  std::vector<CommittedBucket> buckets;
  for (const auto& each : outcome.outcomes) {
    buckets.push_back(received.committed(*each, outcome));
    if (hash64(buckets.back().combined.back()) != each->result_hash) {
      return differs("aggregate", "the commit's");
    }
  }
  auto values = std::make_shared<FloatVector>(*model_.values);
  TRIBUTARY_TRY(apply_round(*round.plan, buckets, {}, *rule_, scratch_, *values));
  const std::uint64_t hash = model_hash_of(*values);
  if (hash != commit.model_hash) return differs("model after a commit", "the commit's");
  for (const PlannedBucket& bucket : round.plan->buckets()) {
    const auto found = std::ranges::find(buckets, bucket.index, &CommittedBucket::bucket);
    const bool counted = found != buckets.end();
    for (auto& [which, cache] : encoders_) {
      cache.get(bucket, round.plan->key().epoch)
          .settle(counted ? own_results(found->combined) : std::vector<ByteSpan>(), counted);
    }
  }
  forget_shares(round);
  model_ = {.id = {.version = commit.model_version, .hash = hash}, .values = std::move(values)};
  round.after = model_;
  return model_;
}

}  // namespace tributary
