// The mailbox between the machine's thread and the thread of a peer link: the epoch to be in, the
// messages to send in it, and the bytes of messages that the machine still holds.
//
// Bounds: UnsentMessages for what the thread has not taken, UnreadBytes for what the machine has
// not let go of.
//
// Threads: begin(), end() and send() belong to the machine's; hand_out() and let_go() to any; the
// rest to the link's thread.
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

  // Ends the epoch before, with what was not sent in it. Nothing: there is no epoch from now on.
  void begin(std::optional<OpenPeers> epoch);
  // Dropped where there is no epoch, and behind a message that was above the bound.
  void send(SendToPeer message);
  // The link's thread ends.
  void end();

  struct Wanted {
    std::uint64_t number = 0;
    std::optional<OpenPeers> epoch;
  };
  // Waits for an epoch with another number than `seen`. Nothing: it is time to end.
  std::optional<Wanted> next_epoch(std::uint64_t seen);

  struct Work {
    std::vector<SendToPeer> sends;
    std::optional<std::uint32_t>
        overrun_by;  // this member takes too little: the epoch cannot go on
  };
  // Waits while there is no room for unread bytes. Nothing: the epoch is over.
  std::optional<Work> work(std::uint64_t number);
  // Nothing more is sent in this epoch.
  void give_up(std::uint64_t number);
  // `wake` is called, on any thread and under a lock, when there is something new; it must not
  // wait. Null: nobody is to be woken, and the one before is not called any more.
  void attach(std::function<void()> wake);

  void hand_out(std::size_t bytes);
  void let_go(std::size_t bytes);

 private:
  void alert();  // under the lock

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  std::uint64_t number_ = 0;  // of begin()
  std::optional<OpenPeers> epoch_;
  UnsentMessages unsent_;
  UnreadBytes unread_;
  std::function<void()> wake_;
};

}  // namespace tributary
