#include "core/round/common/session/conversation.h"

#include <algorithm>
#include <utility>

#include "schemas/payload.h"

namespace tributary {
namespace {

// Size of a heartbeat in bytes, with the overhead of TCP and ZeroMQ, and the largest share of a
// slow link that heartbeats may take.
constexpr double kHeartbeatBytes = 250;
constexpr double kHeartbeatShare = 0.004;
// Texts of a Status may be longer than the limit for texts in a frame.
std::string fit(std::string text) {
  if (text.size() > wire::kTextBytesMax) text.resize(wire::kTextBytesMax);
  return text;
}

}  // namespace

Conversation::Conversation(PeerId peer, std::uint64_t session, const ConversationTimes& times,
                           TimeNs now)
    : peer_(peer),
      session_(session),
      times_(times),
      last_arrival_ns_(now),
      heartbeats_(now + times.heartbeat_interval_ns),
      asked_(times.retries_max) {}

// The only place where frames of the session leave. It adds the session, the time and the
// acknowledgements, so that every frame in either direction also confirms what has arrived.
void Conversation::put(TimeNs now, wire::FrameT frame, const PayloadSlice* payload, Actions& out) {
  frame.session = session_;
  frame.sent_at_ns = static_cast<std::uint64_t>(std::max<TimeNs>(now, 0));
  // Unchanged counts are sent only in heartbeats, which saves bytes in all other frames.
  const bool reports_all =
      frame.message.type == wire::Message::Heartbeat || bulk_receipts_.asked_again();
  frame.bulk_received = bulk_receipts_.report(reports_all);
  const std::uint64_t messages = received_.all_up_to();
  if (std::exchange(messages_reported_, messages) != messages || reports_all) {
    frame.messages_received = messages;
  }
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

void Conversation::send(TimeNs now, wire::FrameT frame, Actions& out, std::uint64_t in_reply_to,
                        const PayloadSlice* payload) {
  frame.in_reply_to = in_reply_to;
  put(now, std::move(frame), payload, out);
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
  // The heartbeat is sent before the next part, while the link is empty, so that its answer
  // measures the round trip of the link without a queue.
  if (bulk_.window().needs_round_trip(now) && bulk_.bytes_waiting() > 0) {
    bulk_.window().round_trip_sought(now);
    send(now, frame_with(heartbeats_.beat_again(now, heartbeat_wait_ns(now))), out);
  }
  bulk_.pump(now, heartbeats_.sent(), emit(now, out));
}

void Conversation::ask(TimeNs now, Maker maker, Actions& out, std::uint64_t tag) {
  std::optional<wire::FrameT> frame = asked_.add(now, std::move(maker), tag, heartbeats_.sent());
  if (frame) put(now, std::move(*frame), nullptr, out);
}

void Conversation::acknowledge(TimeNs now, std::uint64_t id, Actions& out) {
  received_.done(id);
  send(now, frame_with(wire::AckT()), out, id);
}

void Conversation::heartbeat(TimeNs now, wire::Activity activity, const RoundKey& round,
                             Actions& out) {
  send(now, frame_with(heartbeats_.beat(now, activity, round, heartbeat_wait_ns(now))), out);
}

// Bulk frames already show that both sides are alive. While they flow over a slow link, heartbeats
// are sent less often, so that they take at most 0.4 % of it. The interval stays below half the
// timeout.
TimeNs Conversation::heartbeat_wait_ns(TimeNs now) const {
  const bool bulk =
      !bulk_.idle() || now - bulk_receipts_.last_arrival_ns() < times_.heartbeat_interval_ns;
  const double rate = bulk_.window().bytes_per_s();
  const TimeNs longest = std::max(times_.heartbeat_interval_ns, times_.heartbeat_timeout_ns / 2);
  // Without bulk traffic heartbeats are the only sign of life.
  if (!bulk || rate <= 0) return times_.heartbeat_interval_ns;
  const double affordable_s = kHeartbeatBytes / kHeartbeatShare / rate;
  return std::clamp(static_cast<TimeNs>(std::min(affordable_s, 1e6) * 1e9),
                    times_.heartbeat_interval_ns, longest);
}

// Pumps at once: acknowledged parts open the window for the next ones.
void Conversation::take_acknowledgements(TimeNs now, const wire::Frame& frame, Actions& out) {
  asked_.arrived(now, frame.messages_received(), heartbeats_.sent(),
                 [&](TimeNs took_ns) { bulk_.window().round_trip(now, took_ns); });
  bulk_.acknowledged(now, frame.bulk_received());
  pump(now, out);
}

Conversation::Arrival Conversation::arrived(TimeNs now, const wire::Frame& frame, Actions& out) {
  bytes_arrived(now);
  // The peer acknowledges messages that were never sent.
  if (frame.bulk_received() > bulk_.last_number() ||
      frame.messages_received() >= asked_.next_id()) {
    return Arrival::refused;
  }
  take_acknowledgements(now, frame, out);
  // A frame has a bulk number, a message id or neither. Bulk frames are confirmed by a count and
  // messages with an id by an answer; other frames, such as heartbeats, are not confirmed.
  if (frame.bulk_number() != 0) {
    const Result<PayloadClaim> claim = claim_of(frame);
    const std::uint64_t bytes = claim.ok() ? claim->bytes : 0;
    switch (bulk_receipts_.take(now, frame.bulk_number(), bytes)) {
      case ReceivedIds::Verdict::fresh:
        break;
      case ReceivedIds::Verdict::too_far:
        return Arrival::refused;
      case ReceivedIds::Verdict::repeat:
        repeated_.lost_up += bytes;
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
      answer_again(now, frame.message_id(), out);
      return Arrival::repeat;
  }
  return Arrival::fresh;
}

// The first answer was lost. A message that is still in work gets no answer here, because its
// outcome is not known.
void Conversation::answer_again(TimeNs now, std::uint64_t id, Actions& out) {
  if (const wire::RefusalT* const refusal = received_.refusal_of(id)) {
    send(now, frame_with(wire::RefusalT(*refusal)), out, id);
  } else if (!received_.is_in_work(id)) {
    wire::AckT ack;
    ack.duplicate = true;
    send(now, frame_with(ack), out, id);
  }
}

void Conversation::refuse(TimeNs now, std::uint64_t id, wire::RefusalT refusal, Actions& out) {
  received_.refused(id, refusal);
  send(now, frame_with(std::move(refusal)), out, id);
}

Conversation::Traffic Conversation::take_traffic() {
  const std::uint64_t out = bulk_.bytes_repeated();
  repeated_.lost_down += out - std::exchange(repeated_out_reported_, out);
  return {.sent = std::exchange(sent_, {}), .repeated = std::exchange(repeated_, {})};
}

std::string_view Conversation::trouble(TimeNs now) const {
  if (now - last_arrival_ns_ >= times_.heartbeat_timeout_ns) return "silent";
  return failed_ || asked_.failed() ? "no_answer" : "";
}

void Conversation::acknowledge_bulk(TimeNs now, Actions& out) {
  if (bulk_receipts_.due(now)) send(now, frame_with(wire::AckT()), out);
}

std::optional<Conversation::Asked> Conversation::answered(const wire::Frame& frame) {
  return asked_.answered(frame.in_reply_to());
}

std::optional<TimeNs> Conversation::receive_heartbeat(TimeNs now, const wire::Frame& frame,
                                                      Actions& out) {
  const std::optional<Heartbeats::Answer> answer = heartbeats_.receive(now, frame);
  if (!answer) return std::nullopt;
  repeat_lost(now, answer->beat, out);
  if (answer->took_ns) bulk_.window().round_trip(now, *answer->took_ns);
  return answer->took_ns;
}

// Losses are detected by heartbeats instead of timers: a connection keeps the order, so what was
// sent before an answered heartbeat and is not acknowledged is lost. A slow link therefore causes
// no needless repeats.
void Conversation::repeat_lost(TimeNs now, std::uint64_t answered_beat, Actions& out) {
  const std::uint64_t beat = heartbeats_.sent();
  if (!bulk_.repeat_lost(answered_beat, beat, emit(now, out))) failed_ = true;
  asked_.repeat_lost(answered_beat, beat,
                     [&](wire::FrameT frame) { put(now, std::move(frame), nullptr, out); });
}

TimeNs Conversation::next_due_ns() const {
  return std::min({heartbeats_.due_at_ns(), last_arrival_ns_ + times_.heartbeat_timeout_ns,
                   bulk_receipts_.due_at_ns()});
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
