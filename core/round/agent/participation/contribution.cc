#include "core/round/agent/participation/contribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/codec/error_feedback.h"
#include "core/codec/payload.h"
#include "core/round/common/plan/standalone_payload.h"

namespace tributary {

void Contribution::begin(AgentRound& round) {
  end();
  round_ = &round;
}

void Contribution::cut_off(Outgoing::Payload payload) {
  if (round_->plan().by_members()) return;
  const PlannedBucket& bucket = round_->plan().buckets()[payload.bucket];
  late_.insert(bucket.index);
  if (!payload.outlives_round) return;
  if (payload.encoded_round == 0) payload.encoded_round = round_->key().round;
  carried_.insert_or_assign(bucket.index, Carried{.bucket = bucket,
                                                  .payload = std::move(payload),
                                                  .updates = updates_encoded_[bucket.index]});
}

// A payload that counts in the round in which it was encoded is not late.
void Contribution::committed(const Bitmap& counted) {
  std::erase_if(late_, [&](std::uint32_t bucket) {
    return counted.test(bucket) && !carried_.contains(bucket);
  });
  std::erase_if(carried_, [&](const auto& item) { return counted.test(item.first); });
  for (std::uint32_t bucket = 0; bucket < counted.size(); ++bucket) {
    if (counted.test(bucket)) counted_last_[bucket] = round_->key().round;
  }
}

void Contribution::failed() {
  for (const PlannedBucket& bucket : round_->plan().buckets()) {
    if (!bucket.allows_standalone) continue;
    drop_carried(bucket.index);
    late_.erase(bucket.index);
  }
}

void Contribution::drop_carried(std::uint32_t bucket) {
  const auto carried = carried_.find(bucket);
  if (carried == carried_.end()) return;
  parts_.upload.drop(carried->second.payload);
  carried_.erase(carried);
}

void Contribution::forget() {
  for (const auto& [bucket, carried] : carried_) parts_.upload.drop(carried.payload);
  carried_.clear();
  late_.clear();
  updates_encoded_.clear();
  counted_last_.clear();
}

void Contribution::end() {
  if (background_.running()) static_cast<void>(background_.take());
  background_.forget_waiting();
  round_ = nullptr;
  next_ = SIZE_MAX;
  saving_ = false;
  unsaved_.clear();
  unsent_.clear();
  storing_.clear();
}

// --- encoding ----------------------------------------------------------------------------------

bool Contribution::has_input(const PlannedBucket& bucket) const {
  if (!round_->rank()) return false;
  const ResidualAccount& residual = parts_.updates.residual();
  return round_->working() || (round_->plan().conserves() &&
                               residual.missing(round_->key().round) <= bucket.first_value);
}

// Small buckets are encoded together: each record is a transaction of the journal.
void Contribution::encode_some() {
  std::uint64_t values = 0;
  while (has_more() && values < context_.config.encoded_values_at_once) {
    const PlannedBucket& bucket = round_->plan().buckets()[next_++];
    encode(bucket.index);
    values += bucket.values;
  }
  save();
}

void Contribution::encode_ready() {
  for (const PlannedBucket& bucket : round_->plan().buckets()) {
    if (has_input(bucket)) encode(bucket.index);
  }
  save();
}

void Contribution::encode_next(std::uint32_t bucket) {
  encode(bucket);
  save();
}

void Contribution::encode(std::uint32_t bucket) {
  if (background_.running()) {
    background_.wait_behind(bucket);
    return;
  }
  const TimeNs began_at = context_.stopwatch_ns();
  encode_stages(bucket);
  round_->cost().encode_ns += context_.stopwatch_ns() - began_at;
}

// Encodes as many stages as the closed stages allow.
void Contribution::encode_stages(std::uint32_t number) {
  const PlannedBucket& bucket = round_->plan().buckets()[number];
  BucketWork& work = round_->work()[number];
  while (!work.failed && work.encoded < bucket.stages() && work.encoded <= work.combined.size() &&
         work.combined.size() < bucket.stages()) {
    if (begin_in_background(bucket, work) || !encode_one(bucket, work, nullptr)) return;
  }
}

// Encodes the next stage, or takes one that was encoded. Returns false after an error.
bool Contribution::encode_one(const PlannedBucket& bucket, BucketWork& work, Encoded* made) {
  const Status status = encode_stage(bucket, work, work.encoded, made);
  if (status.ok()) return true;
  work.failed = true;
  context_.out.note(LogLevel::error, "bucket_not_encoded", name(status.code()),
                    fmt::format("bucket {}: {}", bucket.index, status.text()));
  if (status.code() == StatusCode::not_finite) drop_input(bucket);
  if (!round_->withdrawn()) {
    parts_.withdrawal.withdraw(*round_, abort_reason_of(status), status);
  }
  return false;
}

// The values are finite, but an intermediate result of the codec is not. They would fail in every
// later round. A codec that does not conserve may have taken them into its own memory.
void Contribution::drop_input(const PlannedBucket& bucket) {
  parts_.updates.mark(bucket.first_value, bucket.values);
  if (!bucket.codec->conserves()) parts_.encoders.drop(bucket);
}

Status Contribution::encode_stage(const PlannedBucket& bucket, BucketWork& work,
                                  std::uint32_t stage, Encoded* made) {
  const std::vector<ByteSpan> combined = work.spans(stage);
  std::optional<OptimizerView> view;
  if (bucket.codec->reads_optimizer()) {
    view = encoder_view(round_->plan(), bucket, parts_.replica.rule(), *parts_.replica.model());
  }
  const StageCall call = {.round = round_->plan().context(bucket, *round_->rank()),
                          .execution = context_.config.execution,
                          .combined = combined,
                          .optimizer = view ? &*view : nullptr,
                          .keep = bucket.keep,
                          .facts = &round_->cost().encoding};
  Result<Outgoing::Payload> encoded = make_payload(bucket, call, made);
  TRIBUTARY_TRY(parts_.updates.lost());
  TRIBUTARY_ASSIGN(Outgoing::Payload payload, std::move(encoded));
  work.encoded = std::min(payload.stage + 1, bucket.stages());
  // Nothing to send: either this agent is not the root, or the stage has closed and was encoded
  // only to advance the encoder.
  if (payload.bytes->empty() || payload.stage < work.combined.size()) return {};
  if (payload.stage < bucket.last_stage()) {
    parts_.upload.add(std::move(payload));
    return {};
  }
  if (bucket.keeps_residual()) {
    TRIBUTARY_ASSIGN(ContributionPart part, part_of(bucket, call, payload, made));
    TRIBUTARY_TRY(parts_.updates.lost());
    parts_.updates.residual().open(round_->key(), *round_->member(), part);
    unsaved_.push_back(std::move(part));
  }
  unsent_.push_back(std::move(payload));
  return {};
}

// Encodes the stage of the call or a standalone payload, or takes the payload whose upload has
// outlived an earlier round.
Result<Outgoing::Payload> Contribution::make_payload(const PlannedBucket& bucket,
                                                     const StageCall& call, Encoded* made) {
  if (call.stage() == 0 && made == nullptr) {
    if (std::optional<Outgoing::Payload> carried = take_carried(bucket)) return std::move(*carried);
    drop_carried(bucket.index);
  }
  TRIBUTARY_ASSIGN(Outgoing::Payload payload, encode_payload(bucket, call, made));
  updates_encoded_[bucket.index] = parts_.updates.residual().stamp().updates_taken;
  if (call.stage() == 0) {
    round_->count_encoded(bucket, call.execution, call.optimizer != nullptr);
    if (!round_->working()) ++round_->mechanisms().buckets_early;
  }
  return payload;
}

std::optional<Outgoing::Payload> Contribution::take_carried(const PlannedBucket& bucket) {
  const auto carried = carried_.find(bucket.index);
  if (carried == carried_.end() || !carried->second.bucket.same_as(bucket) ||
      carried->second.payload.stage != bucket.outliving_stage() ||
      carried->second.updates != parts_.updates.residual().stamp().updates_taken ||
      carried->second.payload.encoded_round >= round_->key().round) {
    return std::nullopt;
  }
  ++round_->mechanisms().uploads_continued;
  return carried->second.payload;
}

Result<Outgoing::Payload> Contribution::encode_payload(const PlannedBucket& bucket,
                                                       const StageCall& call, Encoded* made) {
  auto stage = static_cast<std::uint32_t>(call.stage());
  Bytes bytes;
  if (made != nullptr) {
    if (!made->read.ok()) {
      device_input_.lose(bucket);
      return made->read;
    }
    TRIBUTARY_TRY(std::move(made->status));
    bytes = std::move(made->bytes);
  } else if (stage == 0 && bucket.allows_standalone && late_.contains(bucket.index)) {
    stage = bucket.standalone_stage();
    const std::span<const float> input = parts_.updates.input_of(bucket);
    TRIBUTARY_ASSIGN(bytes, encode_standalone(*bucket.codec, call, input));
  } else {
    Encoder& encoder = parts_.encoders.get(bucket, round_->key().epoch);
    const auto encode = [&](const StageCall& with, std::span<const float> values) {
      return encoder.encode(with, values, bytes);
    };
    TRIBUTARY_TRY(device_input_.has(bucket) ? device_input_.encode(bucket, call, encode)
                                            : encode(call, parts_.updates.input_of(bucket)));
  }
  return Outgoing::Payload{.bucket = bucket.index,
                           .stage = stage,
                           .bytes = std::make_shared<const Bytes>(std::move(bytes)),
                           .outlives_round = bucket.outliving_stage() == stage};
}

Result<ContributionPart> Contribution::part_of(const PlannedBucket& bucket, const StageCall& call,
                                               const Outgoing::Payload& payload, Encoded* made) {
  ContributionPart part{.bucket = bucket.index,
                        .first_value = bucket.first_value,
                        .values = bucket.values,
                        .if_committed = nullptr};
  if (!bucket.keeps_error()) return part;
  if (made != nullptr && made->left != nullptr) {
    part.if_committed = std::move(made->left);
    return part;
  }
  auto left = std::make_shared<FloatVector>(bucket.values);
  if (!device_input_.has(bucket) ||
      !device_input_.keep_residual(bucket, call, *payload.bytes, *left)) {
    parts_.scratch.resize(bucket.values);
    TRIBUTARY_TRY(decode_contribution(bucket, call, *payload.bytes, parts_.scratch));
    keep_residual(call.execution, parts_.updates.input_of(bucket), parts_.scratch, *left);
  }
  part.if_committed = std::move(left);
  return part;
}

// --- encoding in the background ------------------------------------------------------------------

// Returns false if the stage is to be encoded now.
bool Contribution::begin_in_background(const PlannedBucket& bucket, const BucketWork& work) {
  if (!background_.enabled() || bucket.codec->reads_optimizer()) return false;
  if (work.encoded == 0 && (carried_.contains(bucket.index) ||
                            (bucket.allows_standalone && late_.contains(bucket.index)))) {
    return false;
  }
  const bool on_device = device_input_.has(bucket);
  background_.begin(
      round_->cost().encoding,
      {.plan = round_->shared_plan(),
       .bucket = bucket.index,
       .rank = *round_->rank(),
       .closed = {work.combined.begin(), work.combined.begin() + work.encoded},
       .encoder = &parts_.encoders.get(bucket, round_->key().epoch),
       .values = on_device ? std::span<const float>() : parts_.updates.input_of(bucket),
       .on_device = on_device ? parts_.updates.on_device(bucket) : nullptr});
  return true;
}

void Contribution::take(const BackgroundDone& event) {
  if (!background_.runs(event.token)) return;
  take_encoded();
  encode_waiting();
}

// The stage may have closed meanwhile. It is taken all the same, because the encoder has advanced.
void Contribution::take_encoded() {
  const PlannedBucket& bucket = round_->plan().buckets()[background_.bucket()];
  const char* const meanwhile = parts_.upload.bytes() > 0 ? "while_sending"
                                : round_->working()       ? "alone"
                                                          : "while_training";
  Encoded encoded = background_.take();
  context_.out.note(LogLevel::debug, "encoded_in_background", meanwhile,
                    fmt::format("bucket {}", bucket.index));
  round_->cost().encode_ns += encoded.took_ns;
  add_facts(encoded.facts, bucket.index, round_->cost().encoding);
  if (encode_one(bucket, round_->work()[bucket.index], &encoded)) {
    background_.wait_first(bucket.index);  // its next stage
  }
}

void Contribution::finish_encoding() {
  background_.pause(true);
  for (;;) {
    if (background_.running()) {
      take_encoded();
    } else if (const std::optional<std::uint32_t> bucket = background_.next_waiting()) {
      encode(*bucket);
    } else {
      break;
    }
  }
  background_.pause(false);
}

void Contribution::go_on() {
  if (!round_ || background_.running()) return;
  if (background_.any_waiting() || (background_.enabled() && has_more())) encode_waiting();
}

void Contribution::encode_waiting() {
  while (!background_.running()) {
    const std::optional<std::uint32_t> bucket = background_.next_waiting();
    if (!bucket) break;
    encode(*bucket);
  }
  if (has_more()) encode_some();
  save();
  stored_();
}

// --- storing and sending -----------------------------------------------------------------------

// A sent payload may count although this process never learns of it. The residual that it would
// leave is therefore stored before. If it does not count, the stored residual of the round before
// is the right one for a new process, which trains again. Buckets that are ready at the same time
// are stored in one record.
void Contribution::save() {
  if (saving_ || unsent_.empty()) return;
  const RoundKey id = round_->key();
  const ResidualAccount& residual = parts_.updates.residual();
  ContributionRecord record{.id = id,
                            .agent_index = *round_->member(),
                            .residual = nullptr,
                            .residual_stamp = residual.stamp(),
                            .parts = std::exchange(unsaved_, {}),
                            .encoded = residual.on_device() ? nullptr : residual.shared()};
  // Codecs without a residual have nothing to store.
  if (record.parts.empty()) return send(std::exchange(unsent_, {}));
  saving_ = true;
  storing_ = std::exchange(unsent_, {});
  context_.store.push(std::move(record), [this, id] {
    if (round_ && round_->key() == id) saved();
  });
}

void Contribution::saved() {
  saving_ = false;
  send(std::exchange(storing_, {}));
  save();
  stored_();
}

void Contribution::send(LastPayloads payloads) {
  // The payload that was cut off is sent first, and then the bucket that was left out longest. So
  // every bucket has its turn over a link that is too slow for all of them.
  std::ranges::stable_sort(payloads, {}, [this](const Outgoing::Payload& payload) {
    return std::pair(payload.encoded_round == 0, counted_last_[payload.bucket]);
  });
  for (Outgoing::Payload& payload : payloads) {
    // Closed while the record was stored.
    const PlannedBucket& bucket = round_->plan().buckets()[payload.bucket];
    const std::uint32_t stage = std::min(payload.stage, bucket.last_stage());
    if (round_->work()[payload.bucket].combined.size() > stage) continue;
    if (!round_->plan().by_coordinator(bucket, stage)) {
      parts_.network.add(std::move(payload));
      continue;
    }
    parts_.upload.add(std::move(payload));
  }
}

}  // namespace tributary
