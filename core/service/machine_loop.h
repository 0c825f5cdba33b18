// A state machine at work on a transport: what comes in becomes events, what it asks to have sent
// is sent, and its ticks come in time. Everything else that it asks for is handed to the daemon.
//
// A peer that sends a large message over a slow link delivers nothing for a long time. The loop
// asks the transport twice a second for the bytes that have arrived on each connection that has
// delivered no message meanwhile, and feeds PeerAlive where there are more than before.
//
// Threads: all of it belongs to one; post() alone may be called from any.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/net/transport.h"
#include "core/round/common/machine/actions.h"
#include "core/round/common/machine/events.h"
#include "core/service/metrics/note_log.h"

namespace tributary {

// What the transport sends of it: the same bytes, kept by the same owner.
inline SharedSlice shared_slice(PayloadSlice slice) {
  return {std::move(slice.owner), slice.bytes};
}

// Either machine, and how it is wired.
struct LoopParts {
  std::function<Actions(TimeNs now, Event event)> handle;
  std::function<TimeNs()> next_wakeup_ns;
  // Everything but Send, ClosePeer and Note. Must not call the loop.
  std::function<void(Action& action)> carry_out;
  // The agent id of a key; null where the machine does not ask.
  std::function<std::string(const PublicKey& key)> id_of = nullptr;
  // An agent: whatever is sent goes to the connection that there is.
  bool one_peer = false;
  Transport& link;
  const Clock& clock;  // the link's
  NoteLog& notes;
};

class MachineLoop {
 public:
  explicit MachineLoop(LoopParts parts) : parts_(std::move(parts)) {}

  // Waits until something happens or `deadline` has come, and sees to it. False: nothing did.
  Result<bool> turn(TimeNs deadline);
  void feed(Event event);

  // What the event borrows lives as long as `owner`, which is let go of once it has been handled.
  // The queue has no bound of its own, because an event that answers the machine must not be lost:
  // each caller bounds what it posts (storage, training and planning by what the machine has asked
  // for, peers by their unread bytes).
  void post(Event event, std::shared_ptr<const void> owner = nullptr);
  TimeNs now() const { return parts_.clock.now().count(); }

  std::uint64_t sends_dropped() const { return sends_dropped_; }

 private:
  // Of one connection whose queue is full: messages that wait here until there is room.
  static constexpr std::size_t kWaitingMax = 4096;
  static constexpr TimeNs kTryAgainNs = 2'000'000;

  struct Posted {
    Event event;
    std::shared_ptr<const void> owner;
  };

  // How often connections are asked for bytes of messages that are not complete yet.
  static constexpr TimeNs kLookEveryNs = 500'000'000;

  // Of one connection, since it was heard.
  struct Arrivals {
    bool heard = true;                   // a message came since the last look
    std::optional<std::uint64_t> bytes;  // at the last look; none: it was heard after that
  };

  void take(LinkEvent& event, bool waited_for);
  bool look_at_arrivals();
  bool take_posted();
  void carry_out(Action& action);
  void send(Send& message);
  bool send_now(Send& message);
  void send_waiting();

  LoopParts parts_;
  std::map<PeerId, std::deque<Send>> waiting_;
  ConnectionId connection_ = 0;  // the newest
  std::unordered_map<ConnectionId, Arrivals> arrivals_;
  TimeNs next_look_ = 0;
  std::uint64_t sends_dropped_ = 0;

  std::mutex mutex_;
  std::vector<Posted> posted_;
  std::atomic<bool> any_posted_ = false;
};

}  // namespace tributary
