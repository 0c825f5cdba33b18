#include "core/round/agent/participation/background_encoder.h"

#include <utility>

#include "core/codec/error_feedback.h"

namespace tributary {

std::optional<std::uint32_t> BackgroundEncoder::next_waiting() {
  if (waiting_.empty()) return std::nullopt;
  const std::uint32_t bucket = waiting_.front();
  waiting_.pop_front();
  return bucket;
}

// A stage without work for a device leaves the device of the stage before.
void BackgroundEncoder::begin(const EncodingFacts& round, Stage stage) {
  running_ = std::make_unique<Running>(Running{.stage = std::move(stage), .encoded = {}});
  if (round.buckets_on_device.contains(bucket())) {
    running_->encoded.facts.buckets_on_device.insert(bucket());
  }
  running_->work = std::make_shared<BackgroundWork>(
      [this, running = running_.get()] { encode(running->stage, running->encoded); });
  context_.out.add(RunInBackground{.token = ++last_token_, .work = running_->work});
}

BackgroundEncoder::Encoded BackgroundEncoder::take() {
  running_->work->run();
  return std::move(std::exchange(running_, nullptr)->encoded);
}

void BackgroundEncoder::encode(const Stage& stage, Encoded& encoded) {
  const TimeNs began_at = context_.stopwatch_ns();
  const PlannedBucket& bucket = stage.plan->buckets()[stage.bucket];
  std::vector<ByteSpan> combined;
  for (const SharedBytes& payload : stage.closed) combined.emplace_back(*payload);
  const StageCall call = {.round = stage.plan->context(bucket, stage.rank),
                          .execution = context_.config.execution,
                          .combined = combined,
                          .keep = bucket.keep,
                          .facts = &encoded.facts};
  const auto encode = [&](const StageCall& with, std::span<const float> values) {
    return stage.encoder->encode(with, values, encoded.bytes);
  };
  encoded.status = stage.on_device != nullptr ? DeviceInput::encode_from(*stage.on_device, bucket,
                                                                         call, encode, encoded.read)
                                              : encode(call, stage.values);
  if (encoded.status.ok() && encoded.read.ok()) keep_residual(stage, call, encoded);
  encoded.took_ns = context_.stopwatch_ns() - began_at;
}

void BackgroundEncoder::keep_residual(const Stage& stage, const StageCall& call, Encoded& encoded) {
  const PlannedBucket& bucket = stage.plan->buckets()[stage.bucket];
  if (!bucket.keeps_error() || call.stage() != bucket.last_stage() || encoded.bytes.empty()) return;
  auto left = std::make_shared<FloatVector>(bucket.values);
  if (stage.on_device != nullptr) {
    if (!device_input_.keep_residual(bucket, call, encoded.bytes, *left)) return;
  } else {
    scratch_.resize(bucket.values);
    // The caller computes it again, and returns the error.
    if (!decode_contribution(bucket, call, encoded.bytes, scratch_).ok()) return;
    tributary::keep_residual(call.execution, stage.values, scratch_, *left);
  }
  encoded.left = std::move(left);
}

void add_facts(const EncodingFacts& stage, std::uint32_t bucket, EncodingFacts& round) {
  round.mantissa_bits_dropped += stage.mantissa_bits_dropped;
  if (stage.buckets_on_device.contains(bucket)) {
    round.buckets_on_device.insert(bucket);
  } else {
    round.buckets_on_device.erase(bucket);
  }
  for (const auto& [place, bits] : stage.layer_bits) round.layer_bits[place] = bits;
}

}  // namespace tributary
