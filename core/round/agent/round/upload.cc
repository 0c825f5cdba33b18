#include "core/round/agent/round/upload.h"

#include <memory>
#include <utility>

#include "core/round/common/machine/part_message.h"

namespace tributary {
namespace {

BulkId id_of(const RoundKey& attempt, const Outgoing::Payload& payload) {
  return {.round = attempt,
          .bucket = payload.bucket,
          .stage = payload.stage,
          .segment = payload.segment};
}

// `message` contains everything except its part.
template <typename MessageT>
BulkStream stream_of(const RoundPlan& plan, const Outgoing::Payload& payload,
                     const MessageT& message) {
  const auto shared = std::make_shared<const MessageT>(message);
  return {.id = id_of(plan.key(), payload),
          .bytes = payload.size(),
          .slice = slices_of(payload.bytes, payload.view()),
          .frame = [key = plan.key(), payload, shared](std::uint64_t offset,
                                                       const PayloadSlice& slice) {
            MessageT part = *shared;
            part.part =
                describe_part(key, payload.bucket, payload.stage, payload.size(), offset, slice);
            part.part->segment = payload.segment;
            part.part->segments = payload.segments;
            return frame_with(std::move(part));
          }};
}

// The kind of message follows from the plan: Aggregate for a result that the members have made,
// Update for the last stage, Preliminary for the stages before it. The coordinator derives the same
// kind and refuses any other.
BulkStream upload_of(const UploadContext& context, const Outgoing::Payload& payload) {
  const PlannedBucket& bucket = context.plan.buckets()[payload.bucket];
  if (!context.plan.by_coordinator(bucket, payload.stage)) {
    wire::AggregateT result;
    result.agent_index = static_cast<std::int32_t>(context.member);
    result.contributors = context.plan.agents();
    return stream_of(context.plan, payload, result);
  }
  if (payload.stage < bucket.last_stage()) {
    wire::PreliminaryT preliminary;
    preliminary.agent_index = context.member;
    return stream_of(context.plan, payload, preliminary);
  }
  wire::UpdateT update;
  update.agent_index = context.member;
  update.weight = context.weight;
  update.encoded_round = payload.encoded_round;
  if (context.trained_round < context.plan.key().round)
    update.trained_round = context.trained_round;
  return stream_of(context.plan, payload, update);
}

wire::ReceiptT announcement_of(const RoundPlan& plan, const Outgoing::Payload& payload) {
  wire::ReceiptT waits;
  waits.id = std::make_unique<wire::RoundId>(wire_id(plan.key()));
  waits.bucket = payload.bucket;
  waits.stage = static_cast<std::uint8_t>(payload.stage);
  waits.segment = payload.segment;
  waits.waiting_bytes = payload.size();
  waits.encoded_round = payload.encoded_round;
  return waits;
}

}  // namespace

// Captures the context by value, which copies its references. The functions are used within one
// event and not kept.
Outgoing::Session upload_session(const UploadContext& context) {
  return {.send =
              [context](const Outgoing::Payload& payload, std::uint64_t from) {
                context.bytes_up += payload.size() - from;
                context.session.stream(context.now, upload_of(context, payload), from, context.out);
              },
          .sending =
              [context](const Outgoing::Payload& payload) {
                const BulkSender& bulk = context.session.bulk();
                return bulk.has(id_of(context.plan.key(), payload)) ||
                       bulk.has(id_of(payload.sent_in, payload));
              },
          .stop =
              [context](const Outgoing::Payload& payload) {
                context.session.bulk().drop(id_of(context.plan.key(), payload));
              },
          .announce =
              [context](const Outgoing::Payload& payload) {
                context.session.send(
                    context.now, frame_with(announcement_of(context.plan, payload)), context.out);
              }};
}

void drop_upload(const Outgoing::Payload& payload, Conversation& session) {
  session.bulk().drop(id_of(payload.sent_in, payload));
}

void limit_upload(const RoundPlan& plan, std::uint32_t parts, Conversation& session) {
  // All buckets of a plan have parts of the same size.
  if (parts == 0 || plan.buckets().empty()) return;
  const std::uint32_t part_bytes = plan.buckets().front().part_bytes;
  session.bulk().window().set_limits(
      {.part_bytes_max = part_bytes, .window_bytes_max = std::uint64_t{parts} * part_bytes});
}

}  // namespace tributary
