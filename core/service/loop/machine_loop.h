// Runs a state machine on a transport. It turns link events into events of the machine, sends what
// the machine asks it to send, and calls the machine at its wakeup times. It passes all other
// actions to the daemon.
//
// A peer that sends a large message over a slow link delivers no message for a long time. For every
// connection without a message since the last check, the loop asks the transport twice per second
// how many bytes have arrived, and feeds PeerAlive if the number has grown.
//
// Thread rule: everything belongs to one thread, except post(), which any thread may call.
#pragma once

#include <atomic>
#include <cstddef>
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

// Converts a payload without a copy; the owner stays the same.
inline SharedSlice shared_slice(PayloadSlice slice) {
  return {std::move(slice.owner), slice.bytes};
}

// The machine and its connections to the rest of the process.
struct LoopParts {
  std::function<Actions(TimeNs now, Event event)> handle;
  std::function<TimeNs()> next_wakeup_ns;
  // Receives every action except Send, ClosePeer and Note. Must not call the loop.
  std::function<void(Action& action)> execute;
  // Returns the agent id of a key; null if the machine does not need ids.
  std::function<std::string(const PublicKey& key)> id_of = nullptr;
  // For an agent: everything is sent to the newest connection.
  bool one_peer = false;
  Transport& link;
  const Clock& clock;  // the clock of the link
  NoteLog& notes;
  std::size_t posted_max = std::size_t{1} << 20;  // bound on the posted events that wait
};

class MachineLoop {
 public:
  explicit MachineLoop(LoopParts parts) : parts_(std::move(parts)) {}

  // Waits until an event occurs or `deadline` has passed, and processes it. Returns false if
  // nothing happened, and an error if the transport failed or too many events were posted.
  Result<bool> turn(TimeNs deadline);
  void feed(Event event);
  // Time at which turn() has something to do, unless an event comes earlier.
  TimeNs next_due_ns() const;

  // Queues an event from any thread. Everything that the event refers to must live as long as
  // `owner`, which is released after the event was handled. Never blocks, because the loop's own
  // thread posts too. Each caller bounds its events: storage, training and planning by the
  // machine's requests, peers by their unread bytes. If LoopParts::posted_max events wait
  // nevertheless, the event is dropped and every later turn() returns resource_exhausted: the
  // machine must not go on without an event that it may be waiting for.
  void post(Event event, std::shared_ptr<const void> owner = nullptr);
  TimeNs now() const { return parts_.clock.now().count(); }

  // Messages that were dropped because the connection had ended or its queue was full.
  std::uint64_t sends_dropped() const { return sends_dropped_; }

 private:
  // Bound on the messages that wait for room in one connection's send queue.
  static constexpr std::size_t kWaitingMax = 4096;
  static constexpr TimeNs kTryAgainNs = 2'000'000;

  struct Posted {
    Event event;
    std::shared_ptr<const void> owner;
  };

  // Interval of the checks for bytes of incomplete messages.
  static constexpr TimeNs kLookEveryNs = 500'000'000;

  // The arrivals on one connection since its last message.
  struct Arrivals {
    bool message_arrived = true;         // a message arrived since the last check
    std::optional<std::uint64_t> bytes;  // at the last check; empty: a message arrived after it
  };

  void take(LinkEvent& event, bool waited_for);
  bool look_at_arrivals();
  bool take_posted();
  void execute(Action& action);
  void send(Send& message);
  bool send_now(Send& message);
  void send_waiting();

  LoopParts parts_;
  std::map<PeerId, std::deque<Send>> waiting_;
  ConnectionId connection_ = 0;  // the newest connection
  std::unordered_map<ConnectionId, Arrivals> arrivals_;
  TimeNs next_look_ = 0;
  std::uint64_t sends_dropped_ = 0;

  std::mutex mutex_;
  std::vector<Posted> posted_;
  std::atomic<bool> any_posted_ = false;
  std::atomic<bool> post_dropped_ = false;
};

}  // namespace tributary
