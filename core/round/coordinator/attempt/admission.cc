#include "core/round/coordinator/attempt/admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "core/codec/payload.h"
#include "core/round/common/machine/part_message.h"

namespace tributary {

template <typename Message>
bool Admission::is_result(const Message& message) const {
  return !round_.plan().by_coordinator(round_.plan().buckets()[message.bucket()], message.stage());
}

template <typename Message>
IncomingKey Admission::key_for(const Message& message, std::uint32_t member) const {
  const PlannedBucket& bucket = round_.plan().buckets()[message.bucket()];
  if (is_result(message)) {
    return {.bucket = message.bucket(),
            .member = member,
            .stage = message.stage(),
            .segment = message.segment()};
  }
  return {.bucket = message.bucket(),
          .member = member,
          .standalone = message.stage() == bucket.standalone_stage()};
}

// Each member sends its segments of the results that all have, and those of a member that has left
// and that it replaces.
bool Admission::uploads(std::uint32_t member, const IncomingKey& key) const {
  if (key.segment >= round_.plan().agents()) return false;
  const std::uint32_t owner = round_.plan().uploader(key.bucket, key.segment);
  return owner == member || round_.members()[owner].replaced_by == member;
}

// True if the payload, which is of this stage, is still to be taken.
bool Admission::needed(const IncomingKey& key, std::uint32_t stage) const {
  const BucketAggregation& bucket = *round_.buckets()[key.bucket];
  if (!bucket.open()) return false;
  const bool result = !round_.plan().by_coordinator(bucket.bucket(), stage);
  if (result) return !bucket.results().has(stage, key.segment);
  return stage >= bucket.stage() && !bucket.has(key.member);
}

bool Admission::take(AgentSession& session, std::uint32_t member, const wire::Part& part,
                     ByteSpan payload) {
  // Memory for assembly is allocated only by find_or_admit(), within the job's budget.
  BucketAggregation& bucket = *round_.buckets()[part.bucket()];
  const bool result = is_result(part);
  const IncomingKey key = key_for(part, member);
  if (result && !uploads(member, key)) {
    context_.refuse(session, "not_allowed", "a result that another member sends", round_.key());
    return false;
  }
  const std::uint64_t bytes = part.stage_bytes();
  const Addressee place_of{
      .bucket = part.bucket(), .stage = part.stage(), .segment = part.segment()};
  if (!needed(key, part.stage())) {
    // A later round counts it.
    if (!result && !bucket.has(member) && carried_.take(session.agent_id, part, payload)) {
      return false;
    }
    repeats_.late_up += payload.size();
    // The receipt claims all bytes, so that the agent does not send it again.
    send_receipt(session, place_of, bytes, budget_.window());
    return false;
  }
  if (!result && !key.standalone && part.stage() > bucket.stage()) {
    context_.refuse(session, "mismatch", "a stage that is not open yet", round_.key());
    return false;
  }
  double& received_bytes = round_.members()[member].upload.received_bytes;
  // The part is the whole payload: it needs no memory for assembly.
  if (part.payload_bytes() == bytes) {
    received_bytes += static_cast<double>(bytes);
    send_receipt(session, place_of, bytes, budget_.window());
    incoming_.erase(key);
    call_waiting();
    take_payload(session, part, key, payload, {});
    return true;
  }
  // A late member's payload that found no memory of this attempt is kept for a later round.
  if (!incoming_.find(key) && carried_.take(session.agent_id, part, payload)) return false;
  // Without memory the part is dropped, and the receipt with a window of 0 makes the agent wait
  // until it is called.
  Reassembly* const place = incoming_.find_or_admit(key, bytes);
  if (!place) {
    repeats_.no_memory_up += payload.size();
    send_receipt(session, place_of, 0, 0);
    return false;
  }
  if (Status status = check_size(part, place->size()); !status.ok()) {
    context_.refuse(session, "mismatch", status.text(), round_.key());
    return false;
  }
  const std::uint64_t fresh = place->take(part.offset(), payload);
  repeats_.known_up += payload.size() - fresh;
  received_bytes += static_cast<double>(fresh);
  if (!place->complete()) return false;
  send_receipt(session, place_of, bytes, budget_.window());
  Bytes whole = place->release();
  incoming_.erase(key);
  call_waiting();
  const ByteSpan bytes_of_whole(whole);
  take_payload(session, part, key, bytes_of_whole, std::move(whole));
  return true;
}

void Admission::take_payload(AgentSession& session, const wire::Part& part, const IncomingKey& key,
                             ByteSpan payload, Bytes whole) {
  BucketAggregation& bucket = *round_.buckets()[key.bucket];
  const std::size_t bytes = payload.size();
  // An error here ends neither the attempt nor the session: the payload counts as arrived and
  // contributes nothing to the bucket.
  // Codecs read payloads through aligned pointers. The transport's buffer may lie at any address.
  const bool result = is_result(part);
  const bool aligned = reinterpret_cast<std::uintptr_t>(payload.data()) % kPayloadAlignment == 0;
  if (whole.empty() && (result || !aligned)) {
    whole.assign(payload.begin(), payload.end());
    payload = whole;
  }
  const ResultSegment segment{
      .stage = part.stage(), .segment = part.segment(), .segments = part.segments()};
  const Status status = result           ? bucket.take_segment(segment, std::move(whole))
                        : key.standalone ? bucket.add_standalone(key.member, payload)
                                         : bucket.add(key.member, payload);
  if (status.ok()) return;
  if (status.code() == StatusCode::not_finite) {
    round_.members()[key.member].fault =
        fmt::format("bucket {}: {}", bucket.bucket().index, status.text());
  }
  context_.note(
      LogLevel::warning, "payload_refused", name(status.code()), session.agent_id,
      fmt::format("bucket {} ({} bytes): {}", bucket.bucket().index, bytes, status.text()),
      round_.key());
}

// A window of 0 means that the agent waits to be called. Otherwise it sends the rest of the
// payload.
void Admission::send_receipt(AgentSession& session, const Addressee& of,
                             std::uint64_t received_bytes, std::uint32_t window) {
  wire::ReceiptT receipt;
  receipt.id = std::make_unique<wire::RoundId>(wire_id(round_.key()));
  receipt.bucket = of.bucket;
  receipt.stage = static_cast<std::uint8_t>(of.stage);
  receipt.segment = of.segment;
  receipt.received_bytes = received_bytes;
  receipt.payloads_in_flight_max = window;
  session.conversation.send(context_.now, frame_with(std::move(receipt)), context_.out);
}

void Admission::call_waiting() {
  while (const std::optional<IncomingKey> next = incoming_.call_next()) {
    AgentSession* const session =
        context_.roster.by_session(round_.members()[next->member].session);
    const BucketAggregation& bucket = *round_.buckets()[next->bucket];
    const bool result = !round_.plan().by_coordinator(bucket.bucket(), next->stage);
    const std::uint32_t stage = result             ? next->stage
                                : next->standalone ? bucket.bucket().standalone_stage()
                                                   : bucket.stage();
    // The payload is not needed any more; its memory goes to the next one.
    if (!session || !needed(*next, stage)) {
      incoming_.erase(*next);
      continue;
    }
    send_receipt(*session, {.bucket = next->bucket, .stage = stage, .segment = next->segment}, 0,
                 budget_.window());
  }
}

void Admission::take_announcement(AgentSession& session, std::uint32_t member,
                                  const wire::Receipt& receipt) {
  if (receipt.bucket() >= round_.buckets().size()) return;
  const BucketAggregation& bucket = *round_.buckets()[receipt.bucket()];
  const bool result = is_result(receipt);
  const IncomingKey key = key_for(receipt, member);
  if (result && !uploads(member, key)) return;
  const Addressee place_of{
      .bucket = receipt.bucket(), .stage = receipt.stage(), .segment = receipt.segment()};
  const std::uint64_t bytes = receipt.waiting_bytes();
  if (bytes > bucket.bucket().stage_bytes_max(round_.plan().agents())) {
    return context_.refuse(session, "mismatch", "a payload that is not in the plan", round_.key());
  }
  round_.members()[member].part_arrived = true;
  if (!needed(key, receipt.stage())) {
    return send_receipt(session, place_of, bytes, budget_.window());
  }
  if (key.standalone && !bucket.bucket().allows_standalone) return;
  if (!result && !key.standalone && receipt.stage() > bucket.stage()) return;
  const bool outlives = bucket.bucket().outliving_stage() == receipt.stage();
  if (outlives) {
    if (receipt.encoded_round() > 0 && postponed(session.agent_id, member)) {
      return send_receipt(session, place_of, 0, 0);
    }
    resume(session.agent_id, key, receipt.encoded_round(), bytes);
  }
  const Reassembly* const place = incoming_.find_or_admit(key, bytes);
  if (!place) {
    // The others keep the memory of the attempt busy in every round. A late member's payload goes
    // on beyond the round anyway.
    const bool late = round_.members()[member].missed_stage.has_value();
    if (!late || !outlives || !carried_.fits(bytes)) return;
    incoming_.erase(key);
    carried_.await({.agent_id = session.agent_id, .bucket = key.bucket}, round_.key().round,
                   receipt.stage(), bytes);
    return send_receipt(session, place_of, 0, budget_.window());
  }
  if (place->size() != bytes) {
    return context_.refuse(session, "mismatch", "a payload that has changed its size",
                           round_.key());
  }
  // If an earlier attempt has received everything, the agent sends the last byte again, because a
  // payload counts only by a message of this attempt.
  const std::uint64_t received = std::min(place->from_start(), bytes - 1);
  // The stages of this round wait for the rest of a complete upload, which takes a round trip.
  if (place->complete()) round_.await_again(member);
  send_receipt(session, place_of, received, budget_.window());
}

void Admission::resume(const std::string& agent_id, const IncomingKey& key,
                       std::uint64_t encoded_round, std::uint64_t bytes) {
  if (encoded_round >= round_.key().round || incoming_.find(key)) return;
  const CarriedUploads::Key upload{.agent_id = agent_id, .bucket = key.bucket};
  if (encoded_round == 0) {
    const CarriedUploads::Begun* const begun = carried_.find(upload);
    if (!begun || begun->sent_in != round_.key()) return;
    encoded_round = round_.key().round;
  }
  encoded_rounds_[key] = encoded_round;
  std::optional<Reassembly> payload = carried_.resume(upload, encoded_round, bytes);
  if (payload) incoming_.put(key, std::move(*payload));
}

// True if a stage of this round has closed without an upload of the member that has outlived an
// earlier round. The agent announces its uploads together, so the others wait for the next round.
bool Admission::postponed(const std::string& agent_id, std::uint32_t member) {
  const bool some_closed = std::ranges::any_of(round_.buckets(), [&](const auto& bucket) {
    return !bucket->open() && !bucket->has(member) &&
           carried_.find({.agent_id = agent_id, .bucket = bucket->bucket().index});
  });
  return some_closed && carried_.postpone(agent_id, round_.key().round);
}

std::uint64_t Admission::encoded_round(const IncomingKey& key) const {
  const auto found = encoded_rounds_.find(key);
  return found == encoded_rounds_.end() ? round_.key().round : found->second;
}

// The agents go on sending payloads that keep their meaning beyond the round. The first part of one
// may still be on its way.
void Admission::stage_closed(std::uint32_t bucket) {
  const BucketAggregation& closing = *round_.buckets()[bucket];
  const std::optional<std::uint32_t> outliving = closing.bucket().outliving_stage();
  if (outliving && closing.at_last_stage() && !round_.plan().by_members()) {
    for (std::uint32_t i = 0; i < round_.members().size(); ++i) {
      const RoundMember& member = round_.members()[i];
      const std::string& agent_id = membership_.members()[i].agent_id;
      if (!member.participates) continue;
      if (closing.has(i)) {
        carried_.counted(agent_id, bucket);
        continue;
      }
      const IncomingKey key{.bucket = bucket,
                            .member = i,
                            .standalone = *outliving == closing.bucket().standalone_stage()};
      std::optional<Reassembly> begun = incoming_.release(key);
      if (begun) {
        carried_.keep({.agent_id = agent_id, .bucket = bucket},
                      {.sent_in = round_.key(),
                       .stage = *outliving,
                       .encoded_round = encoded_round(key),
                       .payload = std::move(*begun)});
      } else if (member.present()) {
        carried_.await({.agent_id = agent_id, .bucket = bucket}, round_.key().round, *outliving,
                       closing.bucket().stage_bytes_max(round_.plan().agents()));
      }
    }
  }
  incoming_.erase_stage(bucket);
}

void Admission::withdrew(std::uint32_t member) {
  incoming_.erase_member(member);
  call_waiting();
}

// With calls, the memory of a lost member goes to the next waiting one. Without calls all payloads
// fit, so the bytes stay and the member continues after it reconnects.
void Admission::lost(std::uint32_t member) {
  if (budget_.called()) incoming_.erase_member(member);
  call_waiting();
}

}  // namespace tributary
