#include "core/net/zmq/outbox.h"

#include <fmt/format.h>

#include <cerrno>

namespace tributary {
namespace {

// Copying less is cheaper than keeping account of it.
constexpr std::size_t kCopiedBytesMax = 1024;

Status queue_full(std::string got) {
  return Status(StatusCode::resource_exhausted, {.what = "the connection's send queue",
                                                 .expected = "room for the message",
                                                 .got = std::move(got),
                                                 .remedy = "try again after the next event"});
}

}  // namespace

Status Outbox::admit(const SharedSlice& frame, const SharedSlice& payload) const {
  TRIBUTARY_TRY(check_caps(limits_, frame.size(), payload.size()));
  const std::size_t waiting = waiting_->bytes();
  if (waiting > 0 && waiting + frame.size() + payload.size() > limits_.send_queue_bytes) {
    return queue_full(fmt::format("{} bytes that wait", waiting));
  }
  return {};
}

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
    if (error == EAGAIN && i == first) {
      socket.catch_up();
      error = socket.send_part(parts[i], i < last);
      if (error == EAGAIN) return queue_full("as many messages as it takes");
    }
    if (error == EHOSTUNREACH) return no_connection();
    // The first part decides for all: libzmq takes the others or drops the message.
    if (error != 0) return zmq_failed("sending");
  }
  return {};
}

}  // namespace tributary
