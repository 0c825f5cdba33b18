// An agent's payloads on their way to the coordinator: each is kept until a receipt says that all
// of it is there, and goes on where it was after a lost session.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/round/agent/context/repeat_timer.h"
#include "core/round/common/session/conversation.h"

namespace tributary {

class Outgoing {
 public:
  struct Payload {
    std::uint32_t bucket = 0;
    std::uint32_t stage = 0;
    SharedBytes bytes;
  };
  // The session's side.
  struct Session {
    // Begins to send the payload from this byte on.
    std::function<void(const Payload&, std::uint64_t from)> send;
    // It is still being sent.
    std::function<bool(const Payload&)> sending;
    std::function<void(const Payload&)> stop;
    // Says that the payload waits to be called; the answer says from which byte on.
    std::function<void(const Payload&)> announce;
  };
  // Where payloads wait to be called, smaller ones do not: a call costs as much as they do.
  static constexpr std::uint64_t kUncalledBytesMax = 4u << 10;

  // `called`: payloads that are added later wait until the coordinator calls them.
  void begin(bool called) { called_ = called; }
  void add(std::uint32_t bucket, std::uint32_t stage, SharedBytes bytes);
  // Its stage is closed: the payload is of no more use.
  void cancel(std::uint32_t bucket, std::uint32_t stage, const Session& session);
  void stop_all(const Session& session);
  void receipt(TimeNs now, TimeNs again_ns, const wire::Receipt& receipt, const Session& session);
  // There is another session: the coordinator says how much of each payload it has.
  void reconnected();

  // Begins to send what is new, and announces, again and again with longer pauses, what waits or
  // what has been sent without a receipt.
  void pump(TimeNs now, TimeNs again_ns, const Session& session);
  TimeNs next_due_ns() const;
  bool empty() const { return items_.empty(); }
  std::uint64_t bytes() const;

 private:
  enum class State : std::uint8_t {
    fresh,    // to be sent from the start
    waiting,  // to be called
    sent,     // handed to the session
  };
  struct Item {
    Payload payload;
    State state = State::fresh;
    RepeatTimer again;  // while it is to be announced
  };

  std::vector<Item> items_;
  bool called_ = false;
};

}  // namespace tributary
