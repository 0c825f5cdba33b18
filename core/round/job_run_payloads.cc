// Payloads: what agents contribute, and what they are sent back.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "core/codec/payload.h"
#include "core/round/job_run.h"
#include "core/round/part_message.h"

namespace tributary {
namespace {

constexpr std::uint32_t kPartBytesMin = 16u << 10;
// More agents are many: what one of them costs counts for more than what a message does.
constexpr std::size_t kAgentsFew = 128;
// Parts that have their room may be under way, but not all of them at once.
constexpr std::uint32_t kPartsOfShare = 4;
constexpr std::uint64_t kUnderWayShare = 2;

}  // namespace

bool JobRun::many() const { return members_.size() > kAgentsFew; }

// Whether agents wait to be called: not all of their payloads of a bucket would find room at once,
// if they were as large as what is encoded.
bool JobRun::called() const {
  const std::uint64_t values = std::min(job_->values(), record_.policy.bucket_values_max);
  return members_.size() > 1 &&
         members_.size() * values * sizeof(float) > desk_.config.incoming_bytes_max;
}

// Many connections take their own room.
std::uint64_t JobRun::incoming_bytes_max() const {
  return desk_.config.incoming_bytes_max / (many() ? 4 : 1);
}

// The parts that all agents may have under way at once fit the budget, as far as parts can be
// small.
std::uint32_t JobRun::part_bytes() const {
  const std::uint64_t agents = std::max<std::uint64_t>(members_.size(), 1);
  const std::uint64_t share = desk_.config.incoming_bytes_max / (agents * kPartsOfShare);
  const std::uint32_t most = std::min(desk_.config.payload_bytes_max, wire::kPayloadBytesMax);
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(share, std::min(kPartBytesMin, most), most));
}

std::uint32_t JobRun::window() const {
  if (called()) return std::max(desk_.config.payloads_in_flight_max, 1u);
  const std::uint64_t agents = std::max<std::uint64_t>(members_.size(), 1);
  const std::uint64_t share =
      desk_.config.incoming_bytes_max / (kUnderWayShare * agents * part_bytes());
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(share, 1, std::max(desk_.config.payloads_in_flight_max, 1u)));
}

void JobRun::receive_part(AgentSession& session, const wire::Part& part, std::uint32_t agent_index,
                          SentAs sent_as, ByteSpan payload) {
  const RoundKey key = key_of(*part.id());
  // Late is not wrong: the round may have ended while this was on its way.
  if (!round_ || phase_ != Phase::running || round_->key() != key) {
    repeats_.late_up += payload.size();
    desk_.note(LogLevel::debug, "payload_late", "wrong_epoch", session.agent_id, text(key), key);
    return;
  }
  const std::optional<std::uint32_t> member = member_of(session);
  if (!member || *member != agent_index || !round_->members()[*member].participates) {
    return desk_.refuse(session, "not_allowed", "a payload of an agent that does not take part",
                        key);
  }
  if (part.bucket() >= round_->buckets().size()) {
    return desk_.refuse(session, "mismatch", "a bucket that is not in the plan", key);
  }
  BucketAggregation& bucket = *round_->buckets()[part.bucket()];
  const bool last_stage = part.stage() == bucket.bucket().last_stage();
  const SentAs right_kind = round_->plan().by_peers() ? SentAs::result
                            : last_stage              ? SentAs::update
                                                      : SentAs::preliminary;
  const bool right_stage = part.stage() < bucket.bucket().stages() && sent_as == right_kind;
  if (!right_stage || part.segments() != 1 ||
      part.stage_bytes() > bucket.bucket().stage_bytes_max(round_->plan().agents()) ||
      part.payload_bytes() > bucket.bucket().part_bytes) {
    return desk_.refuse(session, "mismatch", "a part that the plan has no place for", key);
  }
  round_->count_part(round_->members()[*member],
                     {.bucket = part.bucket(),
                      .stage = part.stage(),
                      .offset = part.offset(),
                      .bytes = payload.size(),
                      .stage_bytes = part.stage_bytes()},
                     desk_.now, session.conversation.bulk().window().round_trip_min_ns());
  watch_deadline();
  if (!wanted_from(*member, part.bucket())) {
    return desk_.refuse(session, "not_allowed", "a result that another member is to send", key);
  }
  if (!bucket.open() || part.stage() < bucket.stage() || bucket.has(*member)) {
    repeats_.late_up += payload.size();
    // It need not be sent again.
    return send_receipt(session, part.bucket(), part.stage(), part.stage_bytes(), window());
  }
  if (part.stage() > bucket.stage()) {
    if (round_->plan().by_peers()) return;  // one before it was lost: both come again
    return desk_.refuse(session, "mismatch", "a stage that is not open yet", key);
  }
  take_part(session, *member, bucket, part, payload);
}

void JobRun::take_part(AgentSession& session, std::uint32_t member, BucketAggregation& bucket,
                       const wire::Part& part, ByteSpan payload) {
  const IncomingKey key{.bucket = part.bucket(), .member = member};
  const std::uint64_t bytes = part.stage_bytes();
  double& received_bytes = round_->members()[member].upload.received_bytes;
  if (part.payload_bytes() == bytes) {
    received_bytes += static_cast<double>(bytes);
    send_receipt(session, part.bucket(), part.stage(), bytes, window());
    round_->incoming().erase(key);
    call_waiting();
    return take_payload(session, member, bucket, payload);
  }
  Reassembly* place = round_->incoming().find_or_admit(key, bytes);
  if (!place) {
    repeats_.no_room_up += payload.size();
    return send_receipt(session, part.bucket(), part.stage(), 0, 0);
  }
  if (Status status = check_size(part, place->size()); !status.ok()) {
    return desk_.refuse(session, "mismatch", status.text(), round_->key());
  }
  const std::uint64_t fresh = place->take(part.offset(), payload);
  repeats_.known_up += payload.size() - fresh;
  received_bytes += static_cast<double>(fresh);
  if (!place->complete()) return;
  send_receipt(session, part.bucket(), part.stage(), bytes, window());
  const Bytes whole = place->release();
  round_->incoming().erase(key);
  call_waiting();
  take_payload(session, member, bucket, whole);
}

void JobRun::take_payload(AgentSession& session, std::uint32_t member, BucketAggregation& bucket,
                          ByteSpan payload) {
  const std::size_t bytes = payload.size();
  Bytes aligned;
  if (reinterpret_cast<std::uintptr_t>(payload.data()) % kPayloadAlignment != 0) {
    aligned.assign(payload.begin(), payload.end());
    payload = aligned;
  }
  if (Status status = add_payload(member, bucket, payload); !status.ok()) {
    desk_.note(LogLevel::warning, "payload_refused", name(status.code()), session.agent_id,
               fmt::format("bucket {} ({} bytes): {}", bucket.bucket().index, bytes, status.text()),
               round_->key());
  }
  close_where_complete();
}

Status JobRun::add_payload(std::uint32_t member, BucketAggregation& bucket, ByteSpan payload) {
  if (!round_->plan().by_peers()) return bucket.add(member, payload);
  return bucket.take_result(payload);
}

// By peers only one of them sends what all have.
bool JobRun::wanted_from(std::uint32_t member, std::uint32_t bucket) const {
  return !round_->plan().by_peers() || round_->plan().uploader(bucket) == member;
}

// With a window of 0 the agent waits to be called, else it sends the rest of the payload.
void JobRun::send_receipt(AgentSession& session, std::uint32_t bucket, std::uint32_t stage,
                          std::uint64_t received_bytes, std::uint32_t window) {
  wire::ReceiptT receipt;
  receipt.id = std::make_unique<wire::RoundId>(wire_id(round_->key()));
  receipt.bucket = bucket;
  receipt.stage = static_cast<std::uint8_t>(stage);
  receipt.received_bytes = received_bytes;
  receipt.payloads_in_flight_max = window;
  session.conversation.send(desk_.now, frame_with(std::move(receipt)), desk_.out);
}

// There is room again: the payloads that have waited longest for it are called.
void JobRun::call_waiting() {
  while (const std::optional<IncomingKey> next = round_->incoming().call_next()) {
    AgentSession* session = desk_.roster.by_session(round_->members()[next->member].session);
    BucketAggregation& bucket = *round_->buckets()[next->bucket];
    if (!session || !bucket.open() || bucket.has(next->member)) {
      round_->incoming().erase(*next);
      continue;
    }
    send_receipt(*session, next->bucket, bucket.stage(), 0, window());
  }
}

// An agent has a payload and waits to be called.
void JobRun::receive_announcement(AgentSession& session, const wire::Receipt& receipt) {
  const std::optional<std::uint32_t> member = member_of(session);
  if (!round_ || phase_ != Phase::running || round_->key() != key_of(*receipt.id()) || !member ||
      !round_->members()[*member].participates || receipt.bucket() >= round_->buckets().size() ||
      !wanted_from(*member, receipt.bucket())) {
    return;  // late, or nothing that would ever be taken
  }
  BucketAggregation& bucket = *round_->buckets()[receipt.bucket()];
  const std::uint64_t bytes = receipt.waiting_bytes();
  if (bytes > bucket.bucket().stage_bytes_max(round_->plan().agents())) {
    return desk_.refuse(session, "mismatch", "a payload that the plan has no place for",
                        round_->key());
  }
  round_->members()[*member].heard = true;
  if (!bucket.open() || receipt.stage() < bucket.stage() || bucket.has(*member)) {
    return send_receipt(session, receipt.bucket(), receipt.stage(), bytes, window());
  }
  if (receipt.stage() > bucket.stage()) return;
  const IncomingKey key{.bucket = receipt.bucket(), .member = *member};
  const Reassembly* place = round_->incoming().find_or_admit(key, bytes);
  if (!place) return;
  if (place->size() != bytes) {
    return desk_.refuse(session, "mismatch", "a payload that has changed its size", round_->key());
  }
  send_receipt(session, receipt.bucket(), receipt.stage(), place->from_start(), window());
}

void JobRun::send_aggregate(AgentSession& session, const RoundKey& key, std::uint32_t bucket,
                            std::uint32_t stage, std::uint32_t contributors,
                            const SharedBytes& payload, std::uint64_t from) {
  if (round_)
    round_->bytes_down += payload->size() - std::min<std::uint64_t>(from, payload->size());
  session.conversation.stream(desk_.now,
                              {.id = {.round = key, .bucket = bucket, .stage = stage},
                               .bytes = payload->size(),
                               .slice = slices_of(payload),
                               .frame =
                                   [key, bucket, stage, contributors, bytes = payload->size()](
                                       std::uint64_t offset, const PayloadSlice& slice) {
                                     wire::AggregateT aggregate;
                                     aggregate.part =
                                         describe_part(key, bucket, stage, bytes, offset, slice);
                                     aggregate.contributors = contributors;
                                     return frame_with(std::move(aggregate));
                                   }},
                              from, desk_.out);
}

// An agent lacks the rest of an aggregate. What is not combined yet it will get when it is; what is
// not at hand any more it does not need: it is too far behind.
void JobRun::receive_receipt(AgentSession& session, const wire::Receipt& receipt) {
  if (receipt.waiting_bytes() > 0) return receive_announcement(session, receipt);
  const RoundKey key = key_of(*receipt.id());
  const std::uint32_t bucket = receipt.bucket();
  std::span<const SharedBytes> stages;
  std::uint32_t contributors = 1;
  if (round_ && round_->key() == key) {
    if (bucket >= round_->buckets().size()) return;
    stages = round_->buckets()[bucket]->combined();
    contributors = std::max(1u, round_->buckets()[bucket]->contributors());
  } else if (const Published* published = history_.published(key.round);
             published && published->record->id == key) {
    const auto found = published->combined.find(bucket);
    if (found == published->combined.end()) return;
    stages = found->second;
    contributors = published->contributors.at(bucket);
  } else {
    // It was sent the commit, but what belongs to it is not at hand any more.
    const bool lacks = session.synced && session.transfer == 0 && key.job == record_.job &&
                       key.round == session.version + 1 && key.round <= version_ && !published;
    return lacks ? offer(session) : advance(session);
  }
  // An agent that lacks a stage lacks those behind it.
  for (std::uint32_t stage = receipt.stage(); stage < stages.size(); ++stage) {
    const std::uint64_t from = stage == receipt.stage() ? receipt.received_bytes() : 0;
    send_aggregate(session, key, bucket, stage, contributors, stages[stage], from);
  }
}

}  // namespace tributary
