// One session, as either side sees it: numbers its messages, sends those that want an answer again
// until they have one, recognises repeats, and knows by heartbeats whether the other side is there.
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
#include "core/round/events.h"
#include "core/round/message_bytes.h"
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
  // What was sent since this was last asked.
  MessageBytes take_sent() { return std::exchange(sent_, {}); }

  // --- out ---
  void send(TimeNs now, wire::FrameT frame, Actions& out, std::uint64_t in_reply_to = 0);
  void send(TimeNs now, wire::FrameT frame, const PayloadSlice& payload, Actions& out);
  void ask(TimeNs now, Maker maker, Actions& out, std::uint64_t tag = 0);
  void acknowledge(TimeNs now, std::uint64_t id, Actions& out, bool repeat = false);
  void heartbeat(TimeNs now, wire::Activity activity, const RoundKey& round, Actions& out);

  // --- in ---
  enum class Arrival { fresh, repeat, refused };
  // To be called with every frame of this session. A repeat has been acknowledged again here.
  Arrival arrived(TimeNs now, const wire::Frame& frame, Actions& out);
  // The acknowledgement of this fresh message is given later, when it is done.
  void answer_later(std::uint64_t id) { unanswered_.insert(id); }
  void answered_now(std::uint64_t id) { unanswered_.erase(id); }
  // Ends the repeating of what `frame` answers, and says what that was.
  std::optional<Asked> answered(const wire::Frame& frame);
  void heard_heartbeat(TimeNs now, const wire::Frame& frame);
  // There is progress on this message though it is not answered yet.
  void extend(wire::Message kind, std::uint64_t tag, TimeNs now);

  // --- time ---
  // Sends again what is due.
  void retry(TimeNs now, Actions& out);
  bool heartbeat_due(TimeNs now) const { return now >= heartbeat_at_ns_; }
  TimeNs next_due_ns() const;

 private:
  static constexpr std::size_t kAskedMax = 256;

  struct Pending {
    Maker maker;
    Asked asked;
    TimeNs again_at_ns = 0;
    TimeNs wait_ns = 0;
    std::uint32_t tries = 0;
  };

  void put(TimeNs now, wire::FrameT frame, std::uint64_t message_id, std::uint64_t in_reply_to,
           const PayloadSlice* payload, Actions& out);

  PeerId peer_;
  std::uint64_t session_;
  ConversationTimes times_;
  std::uint64_t next_id_ = 1;
  std::map<std::uint64_t, Pending> asked_;
  ReceivedIds received_;
  std::set<std::uint64_t> unanswered_;  // of the other side's, in work here
  bool failed_ = false;
  std::uint64_t payload_bytes_out_ = 0;
  MessageBytes sent_;

  TimeNs heard_at_ns_;
  TimeNs heartbeat_at_ns_;
  std::uint64_t heartbeats_ = 0;
  std::uint64_t echo_count_ = 0;
  std::uint64_t echo_sent_at_ns_ = 0;
  TimeNs echo_heard_at_ns_ = 0;
};

// A refusal in the four parts of a Status.
wire::RefusalT refusal_of(wire::RefusalCode code, const Status& status);
wire::RefusalT refusal_of(wire::RefusalCode code, Fault fault);

}  // namespace tributary
