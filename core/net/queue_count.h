// The number of bytes that wait to be sent on one ZeroMQ connection. The sender adds to it and
// libzmq's thread subtracts. Thread-safe; relaxed order suffices because it guards no other data.
//
// The counter is shared: it must live until libzmq has released the last message, which may be
// after the socket was closed.
#pragma once

#include <atomic>
#include <cstddef>

namespace tributary {

class QueueCount {
 public:
  void add(std::size_t bytes) { bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  void remove(std::size_t bytes) { bytes_.fetch_sub(bytes, std::memory_order_relaxed); }
  std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::size_t> bytes_ = 0;
};

}  // namespace tributary
