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
#include <set>
#include <utility>

#include "core/round/actions.h"
#include "core/round/bulk_sender.h"
#include "core/round/events.h"
#include "core/round/message_bytes.h"
#include "core/round/repeated_bytes.h"
#include "schemas/frame.h"

namespace tributary {

constexpr TimeNs kNsPerMs = 1'000'000;
constexpr TimeNs kNever = INT64_MAX;

struct ConversationTimes {
  TimeNs heartbeat_interval_ns = 0;
  TimeNs heartbeat_timeout_ns = 0;
  TimeNs ack_timeout_ns = 0;
  std::uint32_t retries_max = 0;
};

// Which message ids have come. Ids are given in order, so that few are ahead of the first gap.
class ReceivedIds {
 public:
  enum class Verdict { fresh, repeat, too_far };
  Verdict take(std::uint64_t id);
  std::uint64_t all_up_to() const { return all_up_to_; }

 private:
  static constexpr std::uint64_t kAheadMax = 4096;

  std::uint64_t all_up_to_ = 0;
  std::set<std::uint64_t> ahead_;
};

class Conversation {
 public:
  using Maker = std::function<wire::FrameT()>;

  // What was waiting for an answer.
  struct Asked {
    wire::Message kind = wire::Message::NONE;
    std::uint64_t tag = 0;  // the sender's own
  };

  Conversation(PeerId peer, std::uint64_t session, const ConversationTimes& times, TimeNs now);

  PeerId peer() const { return peer_; }
  std::uint64_t session() const { return session_; }
  const ConversationTimes& times() const { return times_; }
  TimeNs heard_at_ns() const { return heard_at_ns_; }
  bool silent(TimeNs now) const { return now - heard_at_ns_ >= times_.heartbeat_timeout_ns; }
  // More was asked than is remembered, or something was asked too often.
  bool failed() const { return failed_; }
  std::size_t unanswered() const { return asked_.size(); }
  std::uint64_t payload_bytes_out() const { return payload_bytes_out_; }
  // The bulk that is being sent in this session.
  const BulkSender& bulk() const { return bulk_; }
  // What was sent since this was last asked.
  MessageBytes take_sent() { return std::exchange(sent_, {}); }
  // What was repeated since this was last asked: `lost_down` is what this side has sent again,
  // `lost_up` what it has got again.
  RepeatedBytes take_repeated();

  // --- out ---
  void send(TimeNs now, wire::FrameT frame, Actions& out, std::uint64_t in_reply_to = 0);
  // Beside the window: for probes.
  void send(TimeNs now, wire::FrameT frame, const PayloadSlice& payload, Actions& out);
  // Sends the stream from this byte on, as the window allows. One that is there already goes on.
  void stream(TimeNs now, BulkStream stream, std::uint64_t from, Actions& out);
  void drop_stream(const BulkId& id) { bulk_.drop(id); }
  void set_bulk_limits(const SendWindow::Limits& limits) { bulk_.window().set_limits(limits); }
  void ask(TimeNs now, Maker maker, Actions& out, std::uint64_t tag = 0);
  void acknowledge(TimeNs now, std::uint64_t id, Actions& out, bool repeat = false);
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
  // The round trip of a small message that no frame of this session shows: that of its greeting.
  void round_trip(TimeNs now, TimeNs took_ns) { bulk_.window().round_trip(now, took_ns); }
  // Bytes have arrived, although no frame may be whole.
  void heard(TimeNs now) { heard_at_ns_ = std::max(heard_at_ns_, now); }
  // The acknowledgement of this fresh message is given later, when it is done.
  void answer_later(std::uint64_t id) { unanswered_.insert(id); }
  void answered_now(std::uint64_t id) { unanswered_.erase(id); }
  // Ends the repeating of what `frame` answers, and says what that was.
  std::optional<Asked> answered(const wire::Frame& frame);
  // Returns the round trip of the heartbeat that this one answers; nothing where it answers none.
  std::optional<TimeNs> heard_heartbeat(TimeNs now, const wire::Frame& frame, Actions& out);

  // --- time ---
  bool heartbeat_due(TimeNs now) const { return now >= heartbeat_at_ns_; }
  TimeNs next_due_ns() const;

 private:
  static constexpr std::size_t kAskedMax = 256;
  static constexpr std::uint64_t kPatienceBeats = 2;
  static constexpr std::size_t kRefusedMax = 16;  // the last ones

  struct Pending {
    Maker maker;
    Asked asked;
    TimeNs sent_at_ns = 0;
    std::uint64_t beat = 0;  // heartbeats that had been sent before it
    std::uint32_t repeats = 0;
    // The other side has it, and its answer is not here. It may take long, or be lost: the message
    // is repeated as a question after so many heartbeats, then twice as many.
    bool arrived = false;
    std::uint64_t patience = kPatienceBeats;
  };

  void put(TimeNs now, wire::FrameT frame, const PayloadSlice* payload, Actions& out);
  BulkSender::Emit emit(TimeNs now, Actions& out);
  void pump(TimeNs now, Actions& out);
  void take_acknowledgements(TimeNs now, const wire::Frame& frame, Actions& out);
  void repeat_lost(TimeNs now, std::uint64_t beat_heard, Actions& out);
  TimeNs heartbeat_wait_ns(TimeNs now) const;

  PeerId peer_;
  std::uint64_t session_;
  ConversationTimes times_;
  std::uint64_t next_id_ = 1;
  std::map<std::uint64_t, Pending> asked_;
  ReceivedIds received_;
  std::set<std::uint64_t> unanswered_;  // of the other side's, in work here
  std::map<std::uint64_t, wire::RefusalT> refused_;
  bool failed_ = false;
  std::uint64_t payload_bytes_out_ = 0;
  MessageBytes sent_;
  BulkSender bulk_;
  ReceivedIds bulk_received_;
  std::uint64_t bulk_told_ = 0;  // the last number that the other side was told has arrived
  std::uint64_t messages_told_ = 0;
  bool bulk_asked_again_ = false;  // it has repeated a part that is here: it does not know
  TimeNs bulk_heard_at_ns_ = 0;
  std::uint64_t bulk_untold_bytes_ = 0;
  TimeNs acknowledge_at_ns_ = kNever;
  RepeatedBytes repeated_;
  std::uint64_t repeated_out_told_ = 0;

  TimeNs heard_at_ns_;
  TimeNs heartbeat_at_ns_;
  std::uint64_t heartbeats_ = 0;
  wire::Activity activity_ = wire::Activity::idle;  // of the last heartbeat, as the next line
  RoundKey round_;
  std::uint64_t echo_count_ = 0;
  std::uint64_t echo_sent_at_ns_ = 0;
  TimeNs echo_heard_at_ns_ = 0;
};

// A refusal in the four parts of a Status.
wire::RefusalT refusal_of(wire::RefusalCode code, const Status& status);
wire::RefusalT refusal_of(wire::RefusalCode code, Fault fault);

}  // namespace tributary
