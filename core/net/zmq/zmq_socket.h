// RAII wrappers of libzmq: sockets and messages that close themselves, errors as Status, and
// interrupted calls that are repeated. Internal to core/net/zmq.
//
// A context must outlive its sockets, and all sockets must be closed before it ends, or
// zmq_ctx_term() would wait forever.
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

// An io_error with libzmq's text for the last error.
Status zmq_failed(std::string what);

// Owns one part of a message.
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
  // Null if the message has no such property.
  const char* property(const char* name) const { return zmq_msg_gets(&message_, name); }

 private:
  zmq_msg_t message_;
};

// A part that libzmq sends directly from `bytes`. `queue` counts its bytes until libzmq releases
// it.
ZmqMessage message_that_holds(SharedSlice bytes, std::shared_ptr<QueueCount> queue);

// Returns a received part as a slice that begins at a multiple of 8 bytes. It is copied only if its
// memory is not aligned so.
SharedSlice shared_from(ZmqMessage message);

// Owns a libzmq socket. Not thread-safe: libzmq's sockets belong to one thread at a time.
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
  // The descriptor that is readable when a thread of libzmq has news for the socket; -1 on an
  // error.
  int file() const;

  // Returns false if it would have to wait. After an error the socket cannot be used any more.
  Result<bool> receive_part(ZmqMessage& message);
  // Receives all parts of one message. If it has more than `parts_max` parts, only parts_max + 1 of
  // them are kept, which shows the caller that the message is too long. Returns false if no message
  // is there; with `wait` it waits for one.
  Result<bool> receive(std::vector<ZmqMessage>& parts, std::size_t parts_max, bool wait = false);
  // Returns 0 or the error number; EAGAIN if the queue is full.
  int send_part(ZmqMessage& message, bool more);
  // Processes commands from libzmq's other threads. libzmq itself does so only occasionally.
  void catch_up();

 private:
  void* socket_ = nullptr;
};

// Waits until one of the items is ready. Returns false if the time has passed.
Result<bool> wait_for(std::span<zmq_pollitem_t> items, std::chrono::nanoseconds time);

// A change of one of the socket's connections, as libzmq reports it.
struct MonitorEvent {
  int event = 0;
  int value = 0;
  std::string endpoint;
};

// Reports the connection events of a socket. It must be destroyed before that socket.
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
  // Stops the reports before it closes the receiving socket. In the other order, libzmq's thread
  // would wait forever for a receiver.
  void stop() {
    if (watched_ != nullptr) zmq_socket_monitor(watched_, nullptr, 0);
    watched_ = nullptr;
    socket_.close();
  }
  void* get() const { return socket_.get(); }
  int file() const { return socket_.file(); }

 private:
  void* watched_ = nullptr;
  ZmqSocket socket_;
};

}  // namespace tributary
