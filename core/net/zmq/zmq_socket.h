// libzmq with ends: sockets and messages that close themselves, errors as values, interrupted calls
// taken up again. For the files of this folder.
#pragma once

#include <zmq.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/net/queue_count.h"
#include "core/net/shared_slice.h"

namespace tributary {

Status zmq_failed(std::string what);

class ZmqMessage {
 public:
  ZmqMessage() { zmq_msg_init(&message_); }
  explicit ZmqMessage(ByteSpan copied);
  ~ZmqMessage() { zmq_msg_close(&message_); }
  ZmqMessage(ZmqMessage&& other) noexcept : ZmqMessage() { *this = std::move(other); }
  ZmqMessage& operator=(ZmqMessage&& other) noexcept {
    zmq_msg_move(&message_, &other.message_);
    return *this;
  }

  zmq_msg_t* get() { return &message_; }
  ByteSpan bytes() {
    return {static_cast<const std::uint8_t*>(zmq_msg_data(&message_)), zmq_msg_size(&message_)};
  }
  bool more() const { return zmq_msg_more(&message_) != 0; }
  // Null where there is no such property.
  const char* property(const char* name) const { return zmq_msg_gets(&message_, name); }

 private:
  zmq_msg_t message_;
};

// A part that libzmq sends from where it is; counted until libzmq is done with it.
ZmqMessage message_that_holds(SharedSlice bytes, std::shared_ptr<QueueCount> queue);

// A received part as shared bytes that begin at a multiple of 8; copied only where it does not.
SharedSlice shared_from(ZmqMessage message);

class ZmqSocket {
 public:
  ZmqSocket() = default;
  explicit ZmqSocket(void* socket) : socket_(socket) {}
  ZmqSocket(ZmqSocket&& other) noexcept : socket_(std::exchange(other.socket_, nullptr)) {}
  ZmqSocket& operator=(ZmqSocket&& other) noexcept {
    std::swap(socket_, other.socket_);
    return *this;
  }
  ~ZmqSocket() { close(); }

  static Result<ZmqSocket> open(void* context, int type);
  void close() {
    if (void* const socket = std::exchange(socket_, nullptr)) zmq_close(socket);
  }
  void* release() { return std::exchange(socket_, nullptr); }
  void* get() const { return socket_; }
  explicit operator bool() const { return socket_ != nullptr; }

  Status set(int option, int value);
  Status set(int option, std::int64_t value);
  Status set(int option, ByteSpan value);
  Result<std::string> last_endpoint() const;

  // False when it would have to wait. Errors are those of a socket that can no longer be used.
  Result<bool> receive_part(ZmqMessage& message);
  // All parts of one message; more than parts_max are thrown away, all of them, and leave one too
  // many in `parts`. `wait`: until there is one.
  Result<bool> receive(std::vector<ZmqMessage>& parts, std::size_t parts_max, bool wait = false);
  // 0, or the error number; EAGAIN when the queue is full.
  int send_part(ZmqMessage& message, bool more);
  // Looks at what the other threads have said; libzmq does so only now and then by itself.
  void catch_up();

 private:
  void* socket_ = nullptr;
};

// What is watched together; false when the time is up.
Result<bool> wait_for(std::span<zmq_pollitem_t> items, std::chrono::nanoseconds time);

// What happens to the connections of a socket.
struct MonitorEvent {
  int event = 0;
  int value = 0;
  std::string endpoint;
};

// Must go before the socket that it watches.
class Monitor {
 public:
  Monitor() = default;
  Monitor(Monitor&& other) noexcept { *this = std::move(other); }
  Monitor& operator=(Monitor&& other) noexcept {
    std::swap(watched_, other.watched_);
    std::swap(socket_, other.socket_);
    return *this;
  }
  ~Monitor() { stop(); }

  static Result<Monitor> of(void* context, const ZmqSocket& watched, int events);
  Result<std::optional<MonitorEvent>> next();
  // libzmq's thread would wait for ever for somebody to tell: it is told first that nobody listens.
  void stop() {
    if (watched_ != nullptr) zmq_socket_monitor(watched_, nullptr, 0);
    watched_ = nullptr;
    socket_.close();
  }
  void* get() const { return socket_.get(); }

 private:
  void* watched_ = nullptr;
  ZmqSocket socket_;
};

}  // namespace tributary
