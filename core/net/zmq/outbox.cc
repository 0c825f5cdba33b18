#include "core/net/zmq/outbox.h"

#include <fmt/format.h>

#include <cerrno>

namespace tributary {
namespace {

// Up to this size, copying a part is cheaper than counting it until libzmq releases it.
constexpr std::size_t kCopiedBytesMax = 1024;

constexpr std::string_view kQueue = "the connection's send queue";

}  // namespace

Status Outbox::admit(const SharedSlice& frame, const SharedSlice& payload) const {
  TRIBUTARY_TRY(check_caps(limits_, frame.size(), payload.size()));
  const std::size_t waiting = waiting_->bytes();
  // A message larger than the bound is accepted if no other message waits. Otherwise it could never
  // be sent.
  if (waiting == 0) return {};
  return check_queue_bound(
      {.queue = kQueue, .waiting_bytes = waiting, .bytes_max = limits_.send_queue_bytes},
      frame.size() + payload.size());
}

// Small parts are copied, so that libzmq can store them within its own message.
ZmqMessage Outbox::part(SharedSlice bytes) const {
  if (bytes.size() <= kCopiedBytesMax) return ZmqMessage(bytes.view());
  return message_that_holds(std::move(bytes), waiting_);
}

Status Outbox::send(ZmqSocket& socket, ByteSpan route, SharedSlice frame, SharedSlice payload) {
  TRIBUTARY_TRY(admit(frame, payload));
  const bool alone = payload.empty();
  ZmqMessage parts[3] = {ZmqMessage(route), part(std::move(frame)),
                         alone ? ZmqMessage() : part(std::move(payload))};
  const std::size_t first = route.empty() ? 1 : 0;
  const std::size_t last = alone ? 1 : 2;
  for (std::size_t i = first; i <= last; ++i) {
    int error = socket.send_part(parts[i], i < last);
    // The queue may have room that libzmq's thread has reported and this socket has not noticed
    // yet.
    if (error == EAGAIN && i == first) {
      socket.catch_up();
      error = socket.send_part(parts[i], i < last);
      if (error == EAGAIN) {
        return Status(StatusCode::resource_exhausted,
                      {.what = std::string(kQueue),
                       .expected = fmt::format("at most {} messages", limits_.send_queue_messages),
                       .got = "one more",
                       .remedy = "try again after the next event"});
      }
    }
    if (error == EHOSTUNREACH) return no_connection();
    // libzmq decides at the first part: it takes the others too, or drops the whole message.
    if (error != 0) return zmq_failed("sending");
  }
  return {};
}

}  // namespace tributary
