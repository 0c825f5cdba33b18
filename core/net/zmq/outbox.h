// The sending side of one ZeroMQ connection: limits on the size of a message, the bound on waiting
// bytes, and the parts themselves. Not thread-safe.
//
// It belongs to one connection and to the thread of its socket. The counter outlives it in messages
// that libzmq has not released.
#pragma once

#include <memory>

#include "core/net/queue_count.h"
#include "core/net/transport.h"
#include "core/net/zmq/zmq_socket.h"

namespace tributary {

class Outbox {
 public:
  explicit Outbox(const LinkLimits& limits) : limits_(limits) {}

  // Sends `route` (if not empty), the frame and the payload (if not empty) as one message. On an
  // error nothing was sent. The errors are those of Transport::send().
  Status send(ZmqSocket& socket, ByteSpan route, SharedSlice frame, SharedSlice payload);

  std::size_t waiting_bytes() const { return waiting_->bytes(); }

 private:
  Status admit(const SharedSlice& frame, const SharedSlice& payload) const;
  ZmqMessage part(SharedSlice bytes) const;

  const LinkLimits limits_;
  const std::shared_ptr<QueueCount> waiting_ = std::make_shared<QueueCount>();
};

}  // namespace tributary
