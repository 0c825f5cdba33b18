#include "core/link/outbox.h"

#include <fmt/format.h>

#include <cerrno>

#include "core/link/link_options.h"

namespace tributary {
namespace {

// Copying less is cheaper than keeping account of it.
constexpr std::size_t kCopiedBytesMax = 1024;
// CURVE puts a nonce, a tag and a few more bytes around every part; the exact caps are checked when
// it is opened.
constexpr std::size_t kEnvelopeBytesMax = 256;

Status queue_full(std::string got) {
  return Status(StatusCode::resource_exhausted, {.what = "the connection's send queue",
                                                 .expected = "room for the message",
                                                 .got = std::move(got),
                                                 .remedy = "try again after the next event"});
}

}  // namespace

Status Outbox::admit(const SharedBytes& frame, const SharedBytes& payload) const {
  TRIBUTARY_TRY(check_caps(limits_, frame.size(), payload.size()));
  const std::size_t waiting = waiting_->bytes();
  if (waiting > 0 && waiting + frame.size() + payload.size() > limits_.send_queue_bytes) {
    return queue_full(fmt::format("{} bytes that wait", waiting));
  }
  return {};
}

ZmqMessage Outbox::part(SharedBytes bytes) const {
  if (bytes.size() <= kCopiedBytesMax) return ZmqMessage(bytes.view());
  return message_that_holds(std::move(bytes), waiting_);
}

Status Outbox::send(ZmqSocket& socket, ByteSpan route, SharedBytes frame, SharedBytes payload) {
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

Status configure(ZmqSocket& socket, const LinkLimits& limits, const LinkTimes& times) {
  const auto ms = [](std::chrono::milliseconds time) { return static_cast<int>(time.count()); };
  const std::size_t largest = std::max(limits.frame_bytes_max, limits.payload_bytes_max);
  TRIBUTARY_TRY(socket.set(ZMQ_MAXMSGSIZE, static_cast<std::int64_t>(largest + kEnvelopeBytesMax)));
  TRIBUTARY_TRY(socket.set(ZMQ_SNDHWM, static_cast<int>(limits.send_queue_messages)));
  TRIBUTARY_TRY(socket.set(ZMQ_RCVHWM, static_cast<int>(limits.receive_queue_messages)));
  TRIBUTARY_TRY(socket.set(ZMQ_HEARTBEAT_IVL, ms(times.heartbeat_every)));
  TRIBUTARY_TRY(socket.set(ZMQ_HEARTBEAT_TIMEOUT, ms(times.heartbeat_missing_max)));
  TRIBUTARY_TRY(socket.set(ZMQ_HANDSHAKE_IVL, ms(times.handshake_max)));
  TRIBUTARY_TRY(socket.set(ZMQ_LINGER, ms(times.linger_max)));
  return socket.set(ZMQ_IPV6, 1);
}

}  // namespace tributary
