// One session, as either side sees it: numbers its messages, recognises repeats, sends bulk
// payloads within a window, and knows by what arrives whether the other side is there.
//
// A session is one connection, which loses nothing but with itself: no timer repeats a message or a
// part. Every frame says which messages and bulk frames have arrived at its sender. Once the other
// side has answered a heartbeat that was sent behind a message, and still does not have the
// message, the message is lost and is sent again (a transport that keeps its contract never comes
// to that).
//
// What is sent again is made again by its maker: a thousand agents that have not yet acknowledged a
// plan hold a thousand small functions and not a thousand plans.
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
  TimeNs heard_at_ns() const { return heard_at_ns_; }
  const ConversationTimes& times() const { return times_; }
  // Why the session is lost, as it is noted; empty: it is not. "silent": nothing was heard for the
  // heartbeats' timeout; "no_answer": more was asked than is remembered, or something too often.
  std::string_view trouble(TimeNs now) const;
  std::size_t unanswered() const { return asked_.size(); }
  std::uint64_t payload_bytes_out() const { return payload_bytes_out_; }
  // The bulk that is being sent in this session. What stream() adds may be dropped, and the window
  // be told its limits and round trips that no frame of this session shows.
  BulkSender& bulk() { return bulk_; }
  struct Traffic {
    MessageBytes sent = {};
    // `lost_down` is what this side has sent again, `lost_up` what it has got again.
    RepeatedBytes repeated = {};
  };
  // What went over the session since this was last asked.
  Traffic take_traffic();

  // --- out ---
  void send(TimeNs now, wire::FrameT frame, Actions& out, std::uint64_t in_reply_to = 0);
  // Beside the window: for probes.
  void send(TimeNs now, wire::FrameT frame, const PayloadSlice& payload, Actions& out);
  // Sends the stream from this byte on, as the window allows. One that is there already goes on.
  void stream(TimeNs now, BulkStream stream, std::uint64_t from, Actions& out);
  void ask(TimeNs now, Maker maker, Actions& out, std::uint64_t tag = 0);
  // Also where answer_later() was called.
  void acknowledge(TimeNs now, std::uint64_t id, Actions& out);
  // A repeat of the message is refused as well.
  void refuse(TimeNs now, std::uint64_t id, wire::RefusalT refusal, Actions& out);
  void heartbeat(TimeNs now, wire::Activity activity, const RoundKey& round, Actions& out);

  // --- in ---
  enum class Arrival { fresh, repeat, refused };
  // To be called with every frame of this session. A repeat has been acknowledged again here.
  Arrival arrived(TimeNs now, const wire::Frame& frame, Actions& out);
  // To be called after each event: acknowledges bulk that no other frame has, a few bytes of it a
  // little later, so that small payloads share an acknowledgement.
  void acknowledge_bulk(TimeNs now, Actions& out);
  // Bytes have arrived, although no frame may be whole.
  void heard(TimeNs now) { heard_at_ns_ = std::max(heard_at_ns_, now); }
  // The acknowledgement of this fresh message is given later, when it is done.
  void answer_later(std::uint64_t id) { received_.in_work(id); }
  // Ends the repeating of what `frame` answers, and says what that was.
  std::optional<Asked> answered(const wire::Frame& frame);
  // Returns the round trip of the heartbeat that this one answers; nothing where it answers none.
  std::optional<TimeNs> heard_heartbeat(TimeNs now, const wire::Frame& frame, Actions& out);

  // --- time ---
  bool heartbeat_due(TimeNs now) const { return heartbeats_.due(now); }
  TimeNs next_due_ns() const;

 private:
  void put(TimeNs now, wire::FrameT frame, const PayloadSlice* payload, Actions& out);
  BulkSender::Emit emit(TimeNs now, Actions& out);
  void pump(TimeNs now, Actions& out);
  void take_acknowledgements(TimeNs now, const wire::Frame& frame, Actions& out);
  // The answer to a repeat is that to the first, unless that one is in work.
  void answer_again(TimeNs now, std::uint64_t id, Actions& out);
  void repeat_lost(TimeNs now, std::uint64_t beat_heard, Actions& out);
  TimeNs heartbeat_wait_ns(TimeNs now) const;

  PeerId peer_;
  std::uint64_t session_;
  ConversationTimes times_;
  TimeNs heard_at_ns_;
  Heartbeats heartbeats_;
  AskedMessages asked_;
  ReceivedMessages received_;
  std::uint64_t messages_told_ = 0;  // the last number that the other side was told has arrived
  BulkSender bulk_;
  BulkReceipts bulk_receipts_;
  bool failed_ = false;
  MessageBytes sent_;
  std::uint64_t payload_bytes_out_ = 0;
  RepeatedBytes repeated_;
  std::uint64_t repeated_out_told_ = 0;
};

// A refusal in the four parts of a Status.
wire::RefusalT refusal_of(wire::RefusalCode code, const Status& status);
wire::RefusalT refusal_of(wire::RefusalCode code, Fault fault);

}  // namespace tributary
