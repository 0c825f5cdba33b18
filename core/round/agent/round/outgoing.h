// The payloads that an agent uploads to the coordinator. Each one is kept until a receipt confirms
// all its bytes, and continues at the same byte after a lost session. Not thread-safe.
//
// It owns the payloads, shared with the streams that send them, and needs no clock: the caller
// passes the time and calls pump() after every event. Nothing fails here; a coordinator that never
// answers ends the session elsewhere.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/collective/result_segments.h"
#include "core/round/agent/context/repeat_timer.h"
#include "core/round/common/session/conversation.h"

namespace tributary {

class Outgoing {
 public:
  struct Payload {
    std::uint32_t bucket = 0;
    std::uint32_t stage = 0;
    SharedBytes bytes;
    // Only this segment of the bytes is sent (result_segments.h).
    std::uint32_t segment = 0;
    std::uint32_t segments = 1;
    // It means the same in every round, so its upload goes on when its stage has closed.
    bool outlives_round = false;
    // An earlier round in which it was encoded and its upload began; 0: this round.
    std::uint64_t encoded_round = 0;
    // The attempt for which the session was last asked to send it.
    RoundKey sent_in = {};

    // The bytes to send.
    ByteSpan view() const {
      const ByteRange range = segment_range(bytes->size(), segments, segment);
      return ByteSpan(*bytes).subspan(range.first, range.count);
    }
    std::uint64_t size() const { return segment_range(bytes->size(), segments, segment).count; }
  };
  // The operations of the session.
  struct Session {
    // Starts to send the payload from byte `from` on.
    std::function<void(const Payload&, std::uint64_t from)> send;
    // True while the payload is being sent, for this attempt or the earlier one that it names.
    std::function<bool(const Payload&)> sending;
    // Stops sending the payload for this attempt.
    std::function<void(const Payload&)> stop;
    // Announces that the payload waits to be called. The receipt that answers names the byte to
    // start from.
    std::function<void(const Payload&)> announce;
  };
  // Payloads up to this size are sent without a call, because a call costs about as much as they
  // do.
  static constexpr std::uint64_t kUncalledBytesMax = 4u << 10;

  // `called`: payloads that are added later wait until the coordinator calls them.
  void begin(const RoundKey& attempt, bool called) {
    attempt_ = attempt;
    called_ = called;
  }
  // Payloads whose uploads began in an earlier round are announced when the session has sent all of
  // them. The receipts name the first byte that the coordinator lacks of each.
  void add(Payload payload);
  // Drops the payloads of a bucket up to a stage that has closed. Returns one of which a part was
  // sent and that no receipt has confirmed. The session goes on sending it if it outlives the
  // round.
  std::optional<Payload> cancel(std::uint32_t bucket, std::uint32_t stage, const Session& session);
  void stop_all(const Session& session);
  // Handles a receipt: the payload is complete, must wait, or is called. Returns false if there is
  // no such payload.
  bool receipt(TimeNs now, TimeNs again_ns, const wire::Receipt& receipt, const Session& session);
  // A new session has opened. All payloads wait until the coordinator reports how much of each it
  // has.
  void reconnected();

  // Sends new payloads. Announces payloads that wait, and sent payloads without a receipt,
  // repeatedly with growing pauses.
  void pump(TimeNs now, TimeNs again_ns, const Session& session);
  TimeNs next_due_ns() const;
  bool empty() const { return items_.empty(); }
  std::uint64_t bytes() const;

 private:
  enum class State : std::uint8_t {
    fresh,     // to be sent from the start
    outlived,  // the session may still send it for an earlier attempt
    waiting,   // waits to be called
    sent,      // passed to the session
  };
  struct Item {
    Payload payload;
    State state = State::fresh;
    bool begun = false;  // a part of it was sent, in this round or before
    RepeatTimer again;   // runs while the payload is to be announced
  };

  void send(Item& item, std::uint64_t from, const Session& session);
  void announce_outlived(const Session& session);

  std::vector<Item> items_;
  RoundKey attempt_;
  bool called_ = false;
};

}  // namespace tributary
