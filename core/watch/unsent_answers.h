// Answers that a connection's queue had no room for. At most one of a connection waits: meanwhile
// no other question of its is worked on, so that nothing gathers without bound.
//
// Threads: one at a time, but for bytes_sent().
#pragma once

#include <atomic>
#include <cstdint>
#include <map>

#include "core/net/transport.h"

namespace tributary {

class UnsentAnswers {
 public:
  explicit UnsentAnswers(Transport& link) : link_(link) {}

  // Sends the answer, or keeps it where there is no room and no other one waits.
  void send(ConnectionId to, const SharedSlice& answer);
  // Sends those for which there is room by now.
  void send_again();
  void forget(ConnectionId connection) { waiting_.erase(connection); }

  bool empty() const { return waiting_.empty(); }
  bool waits(ConnectionId connection) const { return waiting_.contains(connection); }
  std::uint64_t bytes_sent() const { return bytes_sent_; }  // any thread

 private:
  Status try_to_send(ConnectionId to, const SharedSlice& answer);

  Transport& link_;
  std::map<ConnectionId, SharedSlice> waiting_;
  std::atomic<std::uint64_t> bytes_sent_ = 0;
};

}  // namespace tributary
