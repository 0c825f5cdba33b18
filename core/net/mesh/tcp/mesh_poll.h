// Waits for the sockets of one mesh with epoll, and calls the object of each socket that is ready.
// Internal to core/net/mesh.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/net/mesh/tcp/mesh_socket.h"
#include "core/net/waker.h"

namespace tributary {

// The owner of a watched socket.
class PollTarget {
 public:
  virtual ~PollTarget() = default;
  // `events` are those of epoll: EPOLLIN, EPOLLOUT, EPOLLHUP, EPOLLERR.
  virtual void ready(std::uint32_t events) = 0;

  // For MeshPoll.
  std::uint32_t watched = 0;  // events that epoll watches
  bool buried = false;        // waits to be destroyed
};

// Not thread-safe, except wake(). A target must outlive this object or be passed to bury().
class MeshPoll {
 public:
  static Result<MeshPoll> open();

  // Watches the socket of `target` for these events from now on.
  Status watch(int file, PollTarget& target, std::uint32_t events) const;
  // Waits until a socket is ready, wake() is called, or `time` has passed; then calls ready() of
  // the targets. The time is rounded up to epoll's 1 ms, because a shorter wait would poll until
  // the deadline. Returns whether wake() was called.
  Result<bool> wait(std::chrono::nanoseconds time);
  void wake() const { waker_.signal(); }
  // Ends the calls of ready(), and destroys the target later: events that are being processed may
  // refer to it. Its socket must be closed.
  void bury(std::unique_ptr<PollTarget> target);

 private:
  MeshPoll(File epoll, Waker waker) : epoll_(std::move(epoll)), waker_(std::move(waker)) {}

  File epoll_;
  Waker waker_;
  // Until the current batch of events is processed.
  std::vector<std::unique_ptr<PollTarget>> buried_;
};

}  // namespace tributary
