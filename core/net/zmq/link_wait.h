// Waits for the messages of a libzmq socket, for the events of its connections and for wake(), with
// one system call. It owns an epoll file and a waker. Internal to core/net/zmq.
//
// libzmq's descriptors say only that a socket may have something. So a socket is unread until a
// receive has found nothing, and unread again after every other call of the socket: libzmq may
// process arrivals in any of them, and its descriptor does not become readable for these.
//
// Thread rule: any thread may call wake(); the other methods belong to the thread of the sockets.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/base/status.h"
#include "core/net/waker.h"

namespace tributary {

class LinkWait {
 public:
  enum class Source : std::uint8_t { messages, connections };

  static Result<LinkWait> open();
  LinkWait(LinkWait&& other) noexcept;
  LinkWait& operator=(LinkWait&&) = delete;
  ~LinkWait();

  // Sets the descriptor of the source (ZmqSocket::file()). The source is unread then.
  Status watch(Source source, int file);
  // Call it before the sockets are closed: libzmq closes their descriptors later.
  void forget_sockets();

  bool unread(Source source) const { return unread_[index(source)]; }
  void set_unread(Source source) { unread_[index(source)] = true; }
  // A receive has found nothing.
  void set_read(Source source) { unread_[index(source)] = false; }

  void wake() const { waker_.signal(); }
  // Waits until a source is unread or wake() was called, but at most for `time`, rounded up to
  // milliseconds. Returns whether one of them happened. A time of 0 or less does not wait.
  Result<bool> wait(std::chrono::nanoseconds time);
  // Returns whether a wait() has seen a wake() since the last call.
  bool take_wake() { return std::exchange(woken_, false); }

  // Readable when wait() would not wait. It stays the same for the lifetime of the object.
  int file() const { return epoll_; }

 private:
  static constexpr std::size_t kSources = 2;

  LinkWait(int epoll, Waker waker) : epoll_(epoll), waker_(std::move(waker)) {}
  static std::size_t index(Source source) { return static_cast<std::size_t>(source); }
  Status add(int file, std::uint64_t source) const;

  int epoll_;
  Waker waker_;
  std::array<int, kSources> files_ = {-1, -1};
  std::array<bool, kSources> unread_ = {};
  bool woken_ = false;
};

}  // namespace tributary
