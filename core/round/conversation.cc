#include "core/round/conversation.h"

#include <algorithm>
#include <utility>

namespace tributary {
namespace {

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

void Conversation::put(TimeNs now, wire::FrameT frame, std::uint64_t message_id,
                       std::uint64_t in_reply_to, const PayloadSlice* payload, Actions& out) {
  frame.session = session_;
  frame.message_id = message_id;
  frame.in_reply_to = in_reply_to;
  frame.sent_at_ns = static_cast<std::uint64_t>(std::max<TimeNs>(now, 0));
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
  put(now, std::move(frame), 0, in_reply_to, nullptr, out);
}

void Conversation::send(TimeNs now, wire::FrameT frame, const PayloadSlice& payload, Actions& out) {
  put(now, std::move(frame), 0, 0, &payload, out);
}

void Conversation::ask(TimeNs now, Maker maker, Actions& out, std::uint64_t tag) {
  if (asked_.size() >= kAskedMax) {
    failed_ = true;
    return;
  }
  wire::FrameT frame = maker();
  const std::uint64_t id = next_id_++;
  asked_.emplace(id, Pending{.maker = std::move(maker),
                             .asked = {.kind = frame.message.type, .tag = tag},
                             .again_at_ns = now + times_.ack_timeout_ns,
                             .wait_ns = times_.ack_timeout_ns});
  put(now, std::move(frame), id, 0, nullptr, out);
}

void Conversation::acknowledge(TimeNs now, std::uint64_t id, Actions& out, bool repeat) {
  wire::AckT ack;
  ack.duplicate = repeat;
  send(now, frame_with(ack), out, id);
}

void Conversation::heartbeat(TimeNs now, wire::Activity activity, const RoundKey& round,
                             Actions& out) {
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
  heartbeat_at_ns_ = now + times_.heartbeat_interval_ns;
  send(now, frame_with(beat), out);
}

Conversation::Arrival Conversation::arrived(TimeNs now, const wire::Frame& frame, Actions& out) {
  heard_at_ns_ = std::max(heard_at_ns_, now);
  if (frame.message_id() == 0) return Arrival::fresh;
  switch (received_.take(frame.message_id())) {
    case ReceivedIds::Verdict::fresh:
      return Arrival::fresh;
    case ReceivedIds::Verdict::too_far:
      return Arrival::refused;
    case ReceivedIds::Verdict::repeat:
      break;
  }
  if (!unanswered_.contains(frame.message_id())) acknowledge(now, frame.message_id(), out, true);
  return Arrival::repeat;
}

std::optional<Conversation::Asked> Conversation::answered(const wire::Frame& frame) {
  const auto found = asked_.find(frame.in_reply_to());
  if (found == asked_.end()) return std::nullopt;
  const Asked asked = found->second.asked;
  asked_.erase(found);
  return asked;
}

void Conversation::heard_heartbeat(TimeNs now, const wire::Frame& frame) {
  const wire::Heartbeat* beat = frame.message_as_Heartbeat();
  if (!beat || beat->count() <= echo_count_) return;
  echo_count_ = beat->count();
  echo_sent_at_ns_ = frame.sent_at_ns();
  echo_heard_at_ns_ = now;
}

void Conversation::extend(wire::Message kind, std::uint64_t tag, TimeNs now) {
  for (auto& [id, pending] : asked_) {
    if (pending.asked.kind != kind || pending.asked.tag != tag) continue;
    pending.tries = 0;
    pending.wait_ns = times_.heartbeat_timeout_ns;
    pending.again_at_ns = now + pending.wait_ns;
  }
}

void Conversation::retry(TimeNs now, Actions& out) {
  for (auto& [id, pending] : asked_) {
    if (pending.again_at_ns > now) continue;
    if (++pending.tries > times_.retries_max) {
      failed_ = true;
      return;
    }
    pending.wait_ns = std::min(pending.wait_ns * 2, times_.heartbeat_timeout_ns);
    pending.again_at_ns = now + pending.wait_ns;
    put(now, pending.maker(), id, 0, nullptr, out);
  }
}

TimeNs Conversation::next_due_ns() const {
  TimeNs due = std::min(heartbeat_at_ns_, heard_at_ns_ + times_.heartbeat_timeout_ns);
  for (const auto& [id, pending] : asked_) due = std::min(due, pending.again_at_ns);
  return due;
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
