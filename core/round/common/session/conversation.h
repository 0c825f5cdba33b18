// One session, as either side sees it. It numbers messages, recognises repeats, sends bulk payloads
// within a window, and detects by received messages whether the other side is alive.
//
// A session is one connection, which loses nothing unless it is lost itself: no timer repeats a
// message or a part. Every frame acknowledges the messages and bulk frames that have arrived at its
// sender. If the other side has answered a heartbeat that was sent after a message, and still lacks
// the message, the message is lost and is sent again. A correct transport never causes this.
//
// A message is made again for each repeat, by its maker. A thousand agents that have not yet
// acknowledged a plan therefore cost a thousand small functions, not a thousand plans.
//
// Frames are appended to `out` as Send actions. The caller passes every frame of the session to
// arrived(), and sends heartbeats when heartbeat_due(). Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>

#include "core/round/common/machine/actions.h"
#include "core/round/common/machine/events.h"
#include "core/round/common/machine/message_bytes.h"
#include "core/round/common/machine/repeated_bytes.h"
#include "core/round/common/session/asked_messages.h"
#include "core/round/common/session/bulk_receipts.h"
#include "core/round/common/session/bulk_sender.h"
#include "core/round/common/session/heartbeats.h"
#include "core/round/common/session/received_ids.h"
#include "schemas/frame.h"

namespace tributary {

// The time limits of a session, from the configuration.
struct ConversationTimes {
  TimeNs heartbeat_interval_ns = 0;
  TimeNs heartbeat_timeout_ns = 0;
  TimeNs ack_timeout_ns = 0;
  std::uint32_t retries_max = 0;
};

class Conversation {
 public:
  using Maker = AskedMessages::Maker;
  using Asked = AskedMessages::Asked;

  Conversation(PeerId peer, std::uint64_t session, const ConversationTimes& times, TimeNs now);

  PeerId peer() const { return peer_; }
  std::uint64_t session() const { return session_; }
  TimeNs last_arrival_ns() const { return last_arrival_ns_; }
  const ConversationTimes& times() const { return times_; }
  // The reason for which the session is lost, as a note's reason; empty while it is not lost.
  // "silent": nothing was received for the heartbeat timeout. "no_answer": too many messages wait
  // for an answer, or one was repeated too often.
  std::string_view trouble(TimeNs now) const;
  std::size_t unanswered() const { return asked_.size(); }
  std::uint64_t payload_bytes_out() const { return payload_bytes_out_; }
  // The bulk sender of this session. The caller may drop streams, and may set the window's limits
  // and report round trips that no frame of this session shows.
  BulkSender& bulk() { return bulk_; }
  // Traffic of the session. In `repeated`, lost_down counts the bytes that this side sent again,
  // and lost_up the bytes that it received again.
  struct Traffic {
    MessageBytes sent = {};
    RepeatedBytes repeated = {};
  };
  // The traffic since the previous call.
  Traffic take_traffic();

  // --- out ---
  // Sends a message that needs no answer. `in_reply_to` is the id of the message that it answers,
  // or 0. A payload is sent outside the send window, for probes; null: none.
  void send(TimeNs now, wire::FrameT frame, Actions& out, std::uint64_t in_reply_to = 0,
            const PayloadSlice* payload = nullptr);
  // Sends the stream from byte `from` on, within the window. A stream with the same id continues
  // unchanged.
  void stream(TimeNs now, BulkStream stream, std::uint64_t from, Actions& out);
  // Sends more of the streams, if the session has a turn in a shared window.
  void pump(TimeNs now, Actions& out);
  // Sends a message that requires an answer, and repeats it if it is lost. `tag` is returned by
  // answered().
  void ask(TimeNs now, Maker maker, Actions& out, std::uint64_t tag = 0);
  // Acknowledges a message, at once or after answer_later().
  void acknowledge(TimeNs now, std::uint64_t id, Actions& out);
  // Refuses a message. Repeats of it are refused in the same manner.
  void refuse(TimeNs now, std::uint64_t id, wire::RefusalT refusal, Actions& out);
  // Sends a heartbeat, and schedules the next one.
  void heartbeat(TimeNs now, wire::Activity activity, const RoundKey& round, Actions& out);

  // --- in ---
  enum class Arrival { fresh, repeat, refused };
  // Must be called with every frame of this session. `repeat`: the frame has been answered again
  // and the caller ignores it. `refused`: its numbers are impossible.
  Arrival arrived(TimeNs now, const wire::Frame& frame, Actions& out);
  // Must be called after each event. Sends a separate acknowledgement of bulk frames if one is due.
  void acknowledge_bulk(TimeNs now, Actions& out);
  // Reports that bytes have arrived, although perhaps no complete frame.
  void bytes_arrived(TimeNs now) { last_arrival_ns_ = std::max(last_arrival_ns_, now); }
  // Defers the acknowledgement of this new message until its work is done.
  void answer_later(std::uint64_t id) { received_.in_work(id); }
  // Stops repeating the message that `frame` answers, and returns its description; empty if none
  // waits.
  std::optional<Asked> answered(const wire::Frame& frame);
  // Handles a heartbeat and repeats what was lost. Returns the round trip if the heartbeat answers
  // one of this side and its times are plausible.
  std::optional<TimeNs> receive_heartbeat(TimeNs now, const wire::Frame& frame, Actions& out);

  // --- time ---
  bool heartbeat_due(TimeNs now) const { return heartbeats_.due(now); }
  TimeNs next_due_ns() const;

 private:
  void put(TimeNs now, wire::FrameT frame, const PayloadSlice* payload, Actions& out);
  BulkSender::Emit emit(TimeNs now, Actions& out);
  void take_acknowledgements(TimeNs now, const wire::Frame& frame, Actions& out);
  // Repeats the answer to the first copy, unless that message is still in work.
  void answer_again(TimeNs now, std::uint64_t id, Actions& out);
  void repeat_lost(TimeNs now, std::uint64_t answered_beat, Actions& out);
  TimeNs heartbeat_wait_ns(TimeNs now) const;

  PeerId peer_;
  std::uint64_t session_;
  ConversationTimes times_;
  TimeNs last_arrival_ns_;
  Heartbeats heartbeats_;
  AskedMessages asked_;
  ReceivedMessages received_;
  std::uint64_t messages_reported_ = 0;  // the last count that was sent to the other side
  BulkSender bulk_;
  BulkReceipts bulk_receipts_;
  bool failed_ = false;
  MessageBytes sent_;
  std::uint64_t payload_bytes_out_ = 0;
  RepeatedBytes repeated_;
  std::uint64_t repeated_out_reported_ = 0;
};

// Converts an error to a refusal. Texts are cut to the wire's limit.
wire::RefusalT refusal_of(wire::RefusalCode code, const Status& status);
wire::RefusalT refusal_of(wire::RefusalCode code, Fault fault);

}  // namespace tributary
