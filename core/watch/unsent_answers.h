// Keeps answers that did not fit into their connection's send queue. At most one answer waits for
// each connection, and the connection's next question is not processed meanwhile, so memory is
// bounded.
//
// Not thread-safe, except bytes_sent(), which any thread may call.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>

#include "core/net/transport.h"

namespace tributary {

class UnsentAnswers {
 public:
  explicit UnsentAnswers(Transport& link) : link_(link) {}

  // Sends the answer. If the queue has no room, keeps the answer, unless another one of the
  // connection already waits.
  void send(ConnectionId to, const SharedSlice& answer);
  // Sends the waiting answers whose queues have room now.
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
