#include "core/net/zmq/zmq_socket.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>

namespace tributary {
namespace {

// Alignment in bytes that the header promises to users of payloads.
constexpr std::size_t kPartAlignment = 8;

// Keeps the bytes of a part alive while libzmq waits to send it.
struct Held {
  SharedSlice bytes;
  std::shared_ptr<QueueCount> queue;
  std::atomic<bool> handed_over = false;
};

// Called on one of libzmq's threads, or by the sender if the send failed.
void let_go(void*, void* hint) {
  Held* const held = static_cast<Held*>(hint);
  // Pairs with message_that_holds(). The sanitizer cannot see libzmq's own synchronization.
  held->handed_over.load(std::memory_order_acquire);
  held->queue->remove(held->bytes.size());
  delete held;
}

}  // namespace

Status zmq_failed(std::string what) {
  return Status(StatusCode::io_error,
                {.what = std::move(what), .expected = "success", .got = zmq_strerror(zmq_errno())});
}

ZmqMessage::ZmqMessage(ByteSpan copied) {
  // If the allocation fails, the message is empty. No part may be empty, so its sender gets an
  // error.
  if (zmq_msg_init_size(&message_, copied.size()) != 0) {
    zmq_msg_init(&message_);
    return;
  }
  if (!copied.empty()) std::memcpy(zmq_msg_data(&message_), copied.data(), copied.size());
}

// The bytes count as queued until let_go() is called, on success and on failure.
ZmqMessage message_that_holds(SharedSlice bytes, std::shared_ptr<QueueCount> queue) {
  queue->add(bytes.size());
  const ByteSpan view = bytes.view();
  Held* const held = new Held{.bytes = std::move(bytes), .queue = std::move(queue)};
  held->handed_over.store(true, std::memory_order_release);
  ZmqMessage message;
  // libzmq does not write to the bytes of a message that it sends.
  void* const data = const_cast<std::uint8_t*>(view.data());
  if (zmq_msg_init_data(message.get(), data, view.size(), let_go, held) != 0) {
    zmq_msg_init(message.get());
    let_go(data, held);
  }
  return message;
}

// libzmq stores small messages and parts of a batch at any address, so some must be copied.
SharedSlice shared_from(ZmqMessage message) {
  const auto owner = std::make_shared<ZmqMessage>(std::move(message));
  const ByteSpan bytes = owner->bytes();
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % kPartAlignment == 0) {
    return {owner, bytes};
  }
  return Bytes(bytes.begin(), bytes.end());
}

Result<ZmqSocket> ZmqSocket::open(void* context, int type) {
  ZmqSocket socket(zmq_socket(context, type));
  if (!socket) return zmq_failed("a socket");
  return socket;
}

Status ZmqSocket::set(int option, int value) {
  if (zmq_setsockopt(socket_, option, &value, sizeof(value)) == 0) return {};
  return zmq_failed(fmt::format("socket option {}", option));
}

Status ZmqSocket::set(int option, std::int64_t value) {
  if (zmq_setsockopt(socket_, option, &value, sizeof(value)) == 0) return {};
  return zmq_failed(fmt::format("socket option {}", option));
}

Status ZmqSocket::set(int option, ByteSpan value) {
  if (zmq_setsockopt(socket_, option, value.data(), value.size()) == 0) return {};
  return zmq_failed(fmt::format("socket option {}", option));
}

Result<std::string> ZmqSocket::last_endpoint() const {
  char text[256] = {};
  std::size_t size = sizeof(text);
  if (zmq_getsockopt(socket_, ZMQ_LAST_ENDPOINT, text, &size) != 0) {
    return zmq_failed("asking for the bound address");
  }
  return std::string(text);
}

int ZmqSocket::file() const {
  int file = -1;
  std::size_t size = sizeof(file);
  return zmq_getsockopt(socket_, ZMQ_FD, &file, &size) == 0 ? file : -1;
}

Result<bool> ZmqSocket::receive_part(ZmqMessage& message) {
  while (zmq_msg_recv(message.get(), socket_, ZMQ_DONTWAIT) < 0) {
    if (zmq_errno() == EAGAIN) return false;
    if (zmq_errno() != EINTR) return zmq_failed("receiving");
  }
  return true;
}

Result<bool> ZmqSocket::receive(std::vector<ZmqMessage>& parts, std::size_t parts_max, bool wait) {
  parts.clear();
  for (bool more = true; more;) {
    ZmqMessage part;
    // When the first part is there, libzmq has received all of them, so this does not wait.
    const int flags = wait || !parts.empty() ? 0 : ZMQ_DONTWAIT;
    while (zmq_msg_recv(part.get(), socket_, flags) < 0) {
      if (zmq_errno() == EAGAIN) return false;
      if (zmq_errno() != EINTR) return zmq_failed("receiving");
    }
    more = part.more();
    if (parts.size() <= parts_max) parts.push_back(std::move(part));
  }
  return true;
}

int ZmqSocket::send_part(ZmqMessage& message, bool more) {
  const int flags = ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0);
  while (zmq_msg_send(message.get(), socket_, flags) < 0) {
    if (zmq_errno() != EINTR) return zmq_errno();
  }
  return 0;
}

// Reading ZMQ_EVENTS makes libzmq process the commands of its other threads.
void ZmqSocket::catch_up() {
  int events = 0;
  std::size_t size = sizeof(events);
  zmq_getsockopt(socket_, ZMQ_EVENTS, &events, &size);
}

Result<bool> wait_for(std::span<zmq_pollitem_t> items, std::chrono::nanoseconds time) {
  using std::chrono::milliseconds;
  constexpr milliseconds kLongest = std::chrono::hours(1);
  // Rounded up to whole milliseconds, because a shorter wait would poll until the deadline.
  const milliseconds whole = std::chrono::ceil<milliseconds>(
      std::clamp<std::chrono::nanoseconds>(time, std::chrono::nanoseconds(0), kLongest));
  const int ready =
      zmq_poll(items.data(), static_cast<int>(items.size()), static_cast<long>(whole.count()));
  if (ready < 0 && zmq_errno() != EINTR) return zmq_failed("waiting");
  return ready > 0;
}

// The address is unique in the process, because all monitors of a context share one namespace.
Result<Monitor> Monitor::of(void* context, const ZmqSocket& watched, int events) {
  static std::atomic<std::uint64_t> count = 0;
  const std::string address = fmt::format("inproc://tributary-monitor-{}", ++count);
  if (zmq_socket_monitor(watched.get(), address.c_str(), events) != 0) {
    return zmq_failed("a socket's monitor");
  }
  Monitor monitor;
  monitor.watched_ = watched.get();
  TRIBUTARY_ASSIGN(monitor.socket_, ZmqSocket::open(context, ZMQ_PAIR));
  TRIBUTARY_TRY(monitor.socket_.set(ZMQ_LINGER, 0));
  // The queue has no bound, because a full queue would block libzmq's thread. A connection causes a
  // few events of about 50 bytes, and all waiting events are read at once.
  TRIBUTARY_TRY(monitor.socket_.set(ZMQ_RCVHWM, 0));
  if (zmq_connect(monitor.socket_.get(), address.c_str()) != 0) {
    return zmq_failed("a socket's monitor");
  }
  return monitor;
}

// An event has two parts: a 16-bit number with a 32-bit value, and the endpoint as text.
Result<std::optional<MonitorEvent>> Monitor::next() {
  std::vector<ZmqMessage> parts;
  TRIBUTARY_ASSIGN(const bool found, socket_.receive(parts, 2));
  if (!found) return std::optional<MonitorEvent>();
  MonitorEvent event;
  std::uint16_t kind = 0;
  std::uint32_t value = 0;
  if (parts.size() != 2 || parts[0].bytes().size() != sizeof(kind) + sizeof(value)) {
    return Status(StatusCode::corrupt_data,
                  {.what = "a socket's monitor", .expected = "an event", .got = "something else"});
  }
  std::memcpy(&kind, parts[0].bytes().data(), sizeof(kind));
  std::memcpy(&value, parts[0].bytes().data() + sizeof(kind), sizeof(value));
  const ByteSpan endpoint = parts[1].bytes();
  event.event = kind;
  event.value = static_cast<int>(value);
  event.endpoint.assign(endpoint.begin(), endpoint.end());
  return std::optional<MonitorEvent>(std::move(event));
}

}  // namespace tributary
