#include "core/round/agent/round/agent_round.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/bytes/checksum.h"
#include "core/codec/chunks.h"
#include "core/codec/device/codec_device.h"
#include "core/round/common/plan/mechanisms.h"

namespace tributary {

bool AgentRound::all_encoded() const {
  for (const PlannedBucket& bucket : plan_->buckets()) {
    const BucketWork& work = work_[bucket.index];
    if (work.encoded < bucket.stages() && work.combined.size() < bucket.stages()) return false;
  }
  return true;
}

// Returns true if a stage of the bucket has become usable. Stages may complete in any order, but
// they are used in order: a stage that arrives early waits in `ahead`.
Result<bool> AgentRound::take(const wire::Part& part, ByteSpan payload) {
  const auto misfit = [&](std::string expected) {
    return Status(StatusCode::mismatch,
                  {.what = "part of an aggregate",
                   .expected = std::move(expected),
                   .got = fmt::format("bucket {} stage {}", part.bucket(), part.stage()),
                   .remedy = "send only payloads of the plan"});
  };
  if (part.bucket() >= work_.size()) return misfit("a bucket of the plan");
  const PlannedBucket& bucket = plan_->buckets()[part.bucket()];
  if (part.stage() >= bucket.stages()) return misfit("a stage of the codec");
  BucketWork& work = work_[part.bucket()];
  if (part.stage() < work.combined.size() || work.ahead.contains(part.stage())) return false;
  if (part.stage_bytes() > bucket.stage_bytes_max(plan_->agents())) return misfit("less bytes");
  auto place = work.arriving.find(part.stage());
  if (place == work.arriving.end()) {
    place = work.arriving.emplace(part.stage(), Reassembly(part.stage_bytes())).first;
  }
  TRIBUTARY_TRY(check_size(part, place->second.size()));
  place->second.take(part.offset(), payload);
  if (!place->second.complete()) return false;
  work.ahead[part.stage()] = std::make_shared<const Bytes>(place->second.release());
  work.arriving.erase(place);
  bool whole = false;
  for (auto next = work.ahead.find(static_cast<std::uint32_t>(work.combined.size()));
       next != work.ahead.end();
       next = work.ahead.find(static_cast<std::uint32_t>(work.combined.size()))) {
    work.combined.push_back(std::move(next->second));
    work.ahead.erase(next);
    whole = true;
  }
  return whole;
}

// A receipt for the first stage that the agent lacks. Its byte count is the length of the prefix
// that has arrived, so the coordinator continues there.
std::optional<wire::ReceiptT> AgentRound::missing(std::uint32_t bucket) const {
  const BucketWork& work = work_[bucket];
  const auto stage = static_cast<std::uint32_t>(work.combined.size());
  if (stage >= plan_->buckets()[bucket].stages()) return std::nullopt;
  wire::ReceiptT receipt;
  receipt.id = std::make_unique<wire::RoundId>(wire_id(key()));
  receipt.bucket = bucket;
  receipt.stage = static_cast<std::uint8_t>(stage);
  const auto arriving = work.arriving.find(stage);
  if (arriving != work.arriving.end()) receipt.received_bytes = arriving->second.from_start();
  receipt.payloads_in_flight_max = 1;
  return receipt;
}

// Compares the hash of the last stage only: it is the one that the commit names, and the model
// follows from it.
bool AgentRound::has_all(const wire::RoundOutcomeT& outcome, ActionList& out) {
  bool all = true;
  for (const auto& each : outcome.outcomes) {
    if (each->bucket >= work_.size()) return false;
    BucketWork& work = work_[each->bucket];
    if (work.combined.size() < plan_->buckets()[each->bucket].stages()) {
      all = false;
    } else if (hash64(*work.combined.back()) != each->result_hash) {
      out.refuse_frame("mismatch", "an aggregate that differs from the commit's");
      // All stages are requested again, because any of them may be the wrong one.
      work.combined.clear();
      all = false;
    }
  }
  return all;
}

CommittedBucket AgentRound::committed(const wire::OutcomeT& bucket,
                                      const wire::RoundOutcomeT& outcome) const {
  const wire::ContributorSetT& set = *outcome.contributor_sets[bucket.contributor_set];
  return {.bucket = bucket.bucket,
          .divisor = set.divisor,
          .contributors = set.contributors,
          .combined = work_[bucket.bucket].spans(plan_->buckets()[bucket.bucket].stages())};
}

void AgentRound::count_encoded(const PlannedBucket& bucket, const Execution& execution,
                               bool viewed) {
  mechanisms_.values_encoded += bucket.values;
  add_to_tally(mechanisms_.buckets_by_codec, bucket.codec->spec());
  encoded_.push_back(bucket.index);
  if (viewed) ++mechanisms_.buckets_with_view;
  if (bucket.codec->whole_layers()) {
    ++mechanisms_.buckets_of_layers;
    mechanisms_.matrices += static_cast<std::uint32_t>(
        std::ranges::count_if(bucket.layers, [](const LayerRun& layer) { return layer.rows > 1; }));
  }
  mechanisms_.encode_threads =
      std::max(mechanisms_.encode_threads, threads_for(execution, bucket.values));
}

void AgentRound::count_devices(const Execution& execution) {
  mechanisms_.buckets_by_device.clear();
  for (const std::uint32_t bucket : encoded_) {
    const bool on_device = cost_.encoding.buckets_on_device.contains(bucket);
    add_to_tally(mechanisms_.buckets_by_device, on_device ? execution.device->name() : "host");
  }
}

std::uint64_t AgentRound::bytes() const {
  std::uint64_t bytes = 0;
  for (const BucketWork& work : work_) {
    for (const SharedBytes& combined : work.combined) bytes += combined->size();
    for (const auto& [stage, arriving] : work.arriving) bytes += arriving.size();
    for (const auto& [stage, whole] : work.ahead) bytes += whole->size();
  }
  return bytes;
}

}  // namespace tributary
