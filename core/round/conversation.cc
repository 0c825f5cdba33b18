#include "core/round/conversation.h"

#include <algorithm>
#include <utility>

#include "schemas/payload.h"

namespace tributary {
namespace {

// A heartbeat with what TCP and ZeroMQ add to it, and the share of a slow link that it may take.
constexpr double kHeartbeatBytes = 250;
constexpr double kHeartbeatShare = 0.004;
// Half of the shortest part of a long payload.
constexpr std::uint64_t kAcknowledgedAtOnceBytes = SendWindow::kPartBytesMin / 2;
constexpr TimeNs kAcknowledgeAfterNs = 25 * kNsPerMs;

// Texts of a status may be longer than a frame's.
std::string fit(std::string text) {
  if (text.size() > wire::kTextBytesMax) text.resize(wire::kTextBytesMax);
  return text;
}

}  // namespace

ReceivedIds::Verdict ReceivedIds::take(std::uint64_t id) {
  if (id <= all_up_to_ || ahead_.contains(id)) return Verdict::repeat;
  if (id - all_up_to_ > kAheadMax) return Verdict::too_far;
  ahead_.insert(id);
  while (!ahead_.empty() && *ahead_.begin() == all_up_to_ + 1) {
    ahead_.erase(ahead_.begin());
    ++all_up_to_;
  }
  return Verdict::fresh;
}

Conversation::Conversation(PeerId peer, std::uint64_t session, const ConversationTimes& times,
                           TimeNs now)
    : peer_(peer),
      session_(session),
      times_(times),
      heard_at_ns_(now),
      heartbeat_at_ns_(now + times.heartbeat_interval_ns) {}

void Conversation::put(TimeNs now, wire::FrameT frame, const PayloadSlice* payload, Actions& out) {
  frame.session = session_;
  frame.sent_at_ns = static_cast<std::uint64_t>(std::max<TimeNs>(now, 0));
  // Counts that have not changed are sent in heartbeats alone, which saves bytes in other frames.
  const bool tells_all = frame.message.type == wire::Message::Heartbeat || bulk_asked_again_;
  const std::uint64_t bulk = bulk_received_.all_up_to();
  const std::uint64_t messages = received_.all_up_to();
  if (std::exchange(bulk_told_, bulk) != bulk || tells_all) frame.bulk_received = bulk;
  if (std::exchange(messages_told_, messages) != messages || tells_all) {
    frame.messages_received = messages;
  }
  bulk_asked_again_ = false;
  bulk_untold_bytes_ = 0;
  acknowledge_at_ns_ = kNever;
  Result<Bytes> bytes = build_frame(frame);
  if (!bytes.ok()) {
    out.emplace_back(Note{.level = LogLevel::error,
                          .name = "frame_not_built",
                          .reason = wire::EnumNameMessage(frame.message.type),
                          .source = {},
                          .text = bytes.status().text()});
    return;
  }
  sent_.add(frame.message.type, bytes->size() + (payload ? payload->bytes.size() : 0));
  Send send{.peer = peer_, .frame = std::move(*bytes)};
  if (payload) {
    send.has_payload = true;
    send.payload = *payload;
    payload_bytes_out_ += payload->bytes.size();
  }
  out.emplace_back(std::move(send));
}

void Conversation::send(TimeNs now, wire::FrameT frame, Actions& out, std::uint64_t in_reply_to) {
  frame.in_reply_to = in_reply_to;
  put(now, std::move(frame), nullptr, out);
}

void Conversation::send(TimeNs now, wire::FrameT frame, const PayloadSlice& payload, Actions& out) {
  put(now, std::move(frame), &payload, out);
}

BulkSender::Emit Conversation::emit(TimeNs now, Actions& out) {
  return [this, now, &out](std::uint64_t number, wire::FrameT frame, const PayloadSlice* slice) {
    frame.bulk_number = number;
    put(now, std::move(frame), slice, out);
  };
}

void Conversation::stream(TimeNs now, BulkStream stream, std::uint64_t from, Actions& out) {
  bulk_.add(std::move(stream), from);
  pump(now, out);
}

void Conversation::pump(TimeNs now, Actions& out) {
  if (bulk_.window().wants_round_trip(now) && bulk_.bytes_waiting() > 0) {
    bulk_.window().round_trip_sought(now);
    heartbeat(now, activity_, round_, out);
  }
  bulk_.pump(now, heartbeats_, emit(now, out));
}

void Conversation::ask(TimeNs now, Maker maker, Actions& out, std::uint64_t tag) {
  if (asked_.size() >= kAskedMax) {
    failed_ = true;
    return;
  }
  wire::FrameT frame = maker();
  frame.message_id = next_id_++;
  asked_.emplace(frame.message_id, Pending{.maker = std::move(maker),
                                           .asked = {.kind = frame.message.type, .tag = tag},
                                           .sent_at_ns = now,
                                           .beat = heartbeats_});
  put(now, std::move(frame), nullptr, out);
}

void Conversation::acknowledge(TimeNs now, std::uint64_t id, Actions& out, bool repeat) {
  wire::AckT ack;
  ack.duplicate = repeat;
  send(now, frame_with(ack), out, id);
}

void Conversation::heartbeat(TimeNs now, wire::Activity activity, const RoundKey& round,
                             Actions& out) {
  activity_ = activity;
  round_ = round;
  wire::HeartbeatT beat;
  beat.count = ++heartbeats_;
  beat.activity = activity;
  beat.job = round.job;
  beat.round = round.round;
  beat.echo_count = echo_count_;
  beat.echo_sent_at_ns = echo_sent_at_ns_;
  beat.echo_held_ns =
      echo_count_ == 0 ? 0
                       : static_cast<std::uint64_t>(std::max<TimeNs>(now - echo_heard_at_ns_, 0));
  heartbeat_at_ns_ = now + heartbeat_wait_ns(now);
  send(now, frame_with(beat), out);
}

// While bulk is under way its frames show that both sides are there. On a slow link heartbeats are
// then sent less often, so that they take no more than 0.4 % of it.
TimeNs Conversation::heartbeat_wait_ns(TimeNs now) const {
  const bool bulk = !bulk_.idle() || now - bulk_heard_at_ns_ < times_.heartbeat_interval_ns;
  const double rate = bulk_.window().bytes_per_s();
  const TimeNs longest = std::max(times_.heartbeat_interval_ns, times_.heartbeat_timeout_ns / 2);
  if (!bulk || rate <= 0) return times_.heartbeat_interval_ns;
  const double affordable_s = kHeartbeatBytes / kHeartbeatShare / rate;
  return std::clamp(static_cast<TimeNs>(std::min(affordable_s, 1e6) * 1e9),
                    times_.heartbeat_interval_ns, longest);
}

void Conversation::take_acknowledgements(TimeNs now, const wire::Frame& frame, Actions& out) {
  for (auto& [id, pending] : asked_) {
    if (id > frame.messages_received()) break;
    if (std::exchange(pending.arrived, true)) continue;
    pending.beat = heartbeats_;
    if (pending.repeats > 0) continue;
    bulk_.window().round_trip(now, now - pending.sent_at_ns);
  }
  bulk_.acknowledged(now, frame.bulk_received());
  pump(now, out);
}

Conversation::Arrival Conversation::arrived(TimeNs now, const wire::Frame& frame, Actions& out) {
  heard(now);
  // The peer claims to have received messages that were never sent.
  if (frame.bulk_received() > bulk_.last_number() || frame.messages_received() >= next_id_) {
    return Arrival::refused;
  }
  take_acknowledgements(now, frame, out);
  if (frame.bulk_number() != 0) {
    bulk_heard_at_ns_ = now;
    const Result<PayloadClaim> claim = claim_of(frame);
    const std::uint64_t bytes = claim.ok() ? claim->bytes : 0;
    switch (bulk_received_.take(frame.bulk_number())) {
      case ReceivedIds::Verdict::fresh:
        bulk_untold_bytes_ += bytes;
        break;
      case ReceivedIds::Verdict::too_far:
        return Arrival::refused;
      case ReceivedIds::Verdict::repeat:
        repeated_.lost_up += bytes;
        bulk_asked_again_ = true;
        return Arrival::repeat;
    }
  }
  if (frame.message_id() == 0) return Arrival::fresh;
  switch (received_.take(frame.message_id())) {
    case ReceivedIds::Verdict::fresh:
      return Arrival::fresh;
    case ReceivedIds::Verdict::too_far:
      return Arrival::refused;
    case ReceivedIds::Verdict::repeat:
      break;
  }
  const std::uint64_t id = frame.message_id();
  if (const auto refused = refused_.find(id); refused != refused_.end()) {
    send(now, frame_with(wire::RefusalT(refused->second)), out, id);
  } else if (!unanswered_.contains(id)) {
    acknowledge(now, id, out, true);
  }
  return Arrival::repeat;
}

void Conversation::refuse(TimeNs now, std::uint64_t id, wire::RefusalT refusal, Actions& out) {
  answered_now(id);
  if (refused_.size() >= kRefusedMax) refused_.erase(refused_.begin());
  refused_.insert_or_assign(id, refusal);
  send(now, frame_with(std::move(refusal)), out, id);
}

RepeatedBytes Conversation::take_repeated() {
  const std::uint64_t out = bulk_.bytes_repeated();
  repeated_.lost_down += out - std::exchange(repeated_out_told_, out);
  return std::exchange(repeated_, {});
}

void Conversation::acknowledge_bulk(TimeNs now, Actions& out) {
  if (bulk_received_.all_up_to() == bulk_told_ && !bulk_asked_again_) return;
  if (bulk_received_.all_up_to() == 0) return;
  if (!bulk_asked_again_ && bulk_untold_bytes_ < kAcknowledgedAtOnceBytes) {
    acknowledge_at_ns_ = std::min(acknowledge_at_ns_, now + kAcknowledgeAfterNs);
    if (now < acknowledge_at_ns_) return;
  }
  send(now, frame_with(wire::AckT()), out);
}

std::optional<Conversation::Asked> Conversation::answered(const wire::Frame& frame) {
  const auto found = asked_.find(frame.in_reply_to());
  if (found == asked_.end()) return std::nullopt;
  const Asked asked = found->second.asked;
  asked_.erase(found);
  return asked;
}

std::optional<TimeNs> Conversation::heard_heartbeat(TimeNs now, const wire::Frame& frame,
                                                    Actions& out) {
  const wire::Heartbeat* beat = frame.message_as_Heartbeat();
  if (!beat || beat->count() <= echo_count_) return std::nullopt;
  echo_count_ = beat->count();
  echo_sent_at_ns_ = frame.sent_at_ns();
  echo_heard_at_ns_ = now;
  if (beat->echo_count() == 0) return std::nullopt;
  repeat_lost(now, std::min(beat->echo_count(), heartbeats_), out);
  // Both numbers are the other side's word: what makes no sense is no round trip.
  const auto at = static_cast<std::uint64_t>(std::max<TimeNs>(now, 0));
  if (beat->echo_sent_at_ns() > at) return std::nullopt;
  const std::uint64_t away = at - beat->echo_sent_at_ns();
  if (beat->echo_held_ns() > away) return std::nullopt;
  const auto took = static_cast<TimeNs>(away - beat->echo_held_ns());
  bulk_.window().round_trip(now, took);
  return took;
}

// The other side has heard our heartbeat `beat_heard`: what was sent before it and is not there is
// lost.
void Conversation::repeat_lost(TimeNs now, std::uint64_t beat_heard, Actions& out) {
  if (!bulk_.repeat_lost(beat_heard, heartbeats_, emit(now, out))) failed_ = true;
  for (auto& [id, pending] : asked_) {
    if (pending.beat + (pending.arrived ? pending.patience : 0) >= beat_heard) continue;
    if (pending.arrived) {
      pending.patience *= 2;
    } else if (++pending.repeats > times_.retries_max) {
      failed_ = true;
      return;
    }
    pending.beat = heartbeats_;
    wire::FrameT frame = pending.maker();
    frame.message_id = id;
    put(now, std::move(frame), nullptr, out);
  }
}

TimeNs Conversation::next_due_ns() const {
  return std::min(
      {heartbeat_at_ns_, heard_at_ns_ + times_.heartbeat_timeout_ns, acknowledge_at_ns_});
}

wire::RefusalT refusal_of(wire::RefusalCode code, Fault fault) {
  wire::RefusalT refusal;
  refusal.code = code;
  refusal.what = fit(std::move(fault.what));
  refusal.expected = fit(std::move(fault.expected));
  refusal.got = fit(std::move(fault.got));
  refusal.remedy = fit(std::move(fault.remedy));
  refusal.version_min = wire::kProtocolVersionMin;
  refusal.version_max = wire::kProtocolVersionMax;
  return refusal;
}

wire::RefusalT refusal_of(wire::RefusalCode code, const Status& status) {
  return refusal_of(code, status.fault());
}

}  // namespace tributary
