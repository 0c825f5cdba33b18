#include "core/round/agent/round/round_upload.h"

#include <algorithm>
#include <utility>

#include "core/round/agent/round/upload.h"

namespace tributary {

void RoundUpload::begin(AgentRound& round) {
  round_ = &round;
  const std::uint32_t parts = round.plan().wire().payloads_in_flight_max;
  outgoing_.begin(round.key(), parts == 0);
  if (session_.is_open()) {
    limit_upload(round.plan(), std::max(parts, 1u), *session_.conversation());
  }
}

void RoundUpload::end() {
  if (round_ && session_.is_open()) outgoing_.stop_all(streams());
  outgoing_ = {};
  round_ = nullptr;
}

void RoundUpload::session_opened(std::uint32_t parts) {
  outgoing_.reconnected();
  limit_upload(round_->plan(), parts, *session_.conversation());
}

void RoundUpload::receive(const wire::Receipt& receipt) {
  if (!round_ || round_->key() != key_of(*receipt.id())) return;
  limit_upload(round_->plan(), receipt.payloads_in_flight_max(), *session_.conversation());
  if (outgoing_.receipt(context_.now, again_ns(), receipt, streams())) return;
  add_segment_of_other(receipt);
}

void RoundUpload::add_result(std::uint32_t bucket, std::uint32_t stage, const SharedBytes& result) {
  const RoundPlan& plan = round_->plan();
  const std::uint32_t segments = plan.segments(result->size());
  const std::uint32_t segment = plan.segment_of(bucket, *round_->rank());
  if (segment >= segments) return;
  ++round_->mechanisms().segments_uploaded;
  outgoing_.add({.bucket = bucket,
                 .stage = stage,
                 .bytes = result,
                 .segment = segment,
                 .segments = segments});
}

// All members have the same results. The receipt names no size, so the segment may not exist.
void RoundUpload::add_segment_of_other(const wire::Receipt& receipt) {
  const RoundPlan& plan = round_->plan();
  if (!plan.wire().divides_results || !round_->rank() || receipt.received_bytes() > 0 ||
      receipt.bucket() >= plan.buckets().size() ||
      receipt.segment() == plan.segment_of(receipt.bucket(), *round_->rank()) ||
      plan.by_coordinator(plan.buckets()[receipt.bucket()], receipt.stage())) {
    return;
  }
  const std::vector<SharedBytes>& results = round_->work()[receipt.bucket()].combined;
  if (receipt.stage() >= results.size()) return;
  const SharedBytes& result = results[receipt.stage()];
  const std::uint32_t segments = plan.segments(result->size());
  if (receipt.segment() >= segments) return;
  outgoing_.add({.bucket = receipt.bucket(),
                 .stage = receipt.stage(),
                 .bytes = result,
                 .segment = receipt.segment(),
                 .segments = segments});
}

void RoundUpload::drop(const Outgoing::Payload& payload) {
  if (session_.is_open()) drop_upload(payload, *session_.conversation());
}

void RoundUpload::pump() {
  if (round_ && session_.is_open()) outgoing_.pump(context_.now, again_ns(), streams());
}

Outgoing::Session RoundUpload::streams() {
  return upload_session({.now = context_.now,
                         .session = *session_.conversation(),
                         .plan = round_->plan(),
                         .member = round_->member().value_or(0),
                         .weight = round_->plan().wire().weight,
                         .trained_round = round_->trained_round(),
                         .out = context_.out.all(),
                         .bytes_up = round_->cost().bytes_up});
}

}  // namespace tributary
