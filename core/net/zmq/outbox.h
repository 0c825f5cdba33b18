// The way out to one connection: caps, the bound on what waits, and the parts themselves.
#pragma once

#include <memory>

#include "core/net/queue_count.h"
#include "core/net/transport.h"
#include "core/net/zmq/zmq_socket.h"

namespace tributary {

class Outbox {
 public:
  explicit Outbox(const LinkLimits& limits) : limits_(limits) {}

  // The route goes first, where there is one. Nothing was sent unless all of it was.
  Status send(ZmqSocket& socket, ByteSpan route, SharedSlice frame, SharedSlice payload);

  std::size_t waiting_bytes() const { return waiting_->bytes(); }

 private:
  Status admit(const SharedSlice& frame, const SharedSlice& payload) const;
  ZmqMessage part(SharedSlice bytes) const;

  const LinkLimits limits_;
  const std::shared_ptr<QueueCount> waiting_ = std::make_shared<QueueCount>();
};

}  // namespace tributary
