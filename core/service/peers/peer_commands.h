// Passes commands from the machine's thread to the thread of a peer link: the current epoch and the
// messages to send in it. It also counts the bytes of messages that the machine still holds.
//
// Bounds: UnsentMessages for messages that the link's thread has not taken, UnreadBytes for
// messages that the machine has not released.
//
// Thread rule: the machine's thread calls begin(), end() and send(); any thread may call hand_out()
// and let_go(); the link's thread calls the rest.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "core/round/common/machine/actions.h"
#include "core/service/peers/unread_bytes.h"
#include "core/service/peers/unsent_messages.h"

namespace tributary {

class PeerCommands {
 public:
  struct Bounds {
    std::size_t unsent_bytes_max = 0;
    std::size_t unread_bytes_max = 0;
  };
  explicit PeerCommands(const Bounds& bounds)
      : unsent_(bounds.unsent_bytes_max), unread_(bounds.unread_bytes_max) {}

  // Ends the previous epoch and drops its unsent messages. Without a value no epoch follows.
  void begin(std::optional<OpenPeers> epoch);
  // Queues a message. Drops it without an epoch, and after a message that exceeded the bound.
  void send(SendToPeer message);
  // Asks the link's thread to end.
  void end();

  // An epoch and its number. Without an epoch the link has no session.
  struct NextEpoch {
    std::uint64_t number = 0;
    std::optional<OpenPeers> epoch;
  };
  // Waits for an epoch with another number than `seen`. Returns nothing if the thread must end.
  std::optional<NextEpoch> next_epoch(std::uint64_t seen);

  // The work of the link's thread since its last call.
  struct Work {
    std::vector<SendToPeer> sends;
    // A member that takes its messages too slowly, so that the epoch must end.
    std::optional<std::uint32_t> overrun_by;
  };
  // Takes the messages to send. Waits while unread bytes have no room. Returns nothing if the epoch
  // is over.
  std::optional<Work> work(std::uint64_t number);
  // Ends the epoch: no more messages are sent in it.
  void give_up(std::uint64_t number);
  // Sets the function that is called when new work arrives. It is called on any thread and under
  // the lock, so it must not block. With null, no function is called any more.
  void attach(std::function<void()> wake);

  // Counts bytes of messages that the machine has received, until it releases them.
  void hand_out(std::size_t bytes);
  void let_go(std::size_t bytes);

 private:
  void alert();  // requires the lock

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  std::uint64_t number_ = 0;  // counts the calls of begin()
  std::optional<OpenPeers> epoch_;
  UnsentMessages unsent_;
  UnreadBytes unread_;
  std::function<void()> wake_;
};

}  // namespace tributary
