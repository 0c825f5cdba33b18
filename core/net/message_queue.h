// A queue of messages that also counts their bytes: messages that wait to be sent to a peer, or
// messages on a shaped link. The owner checks the bound (check_queue_bound) before it adds a
// message. Not thread-safe.
//
// ZeroMQ links do not use it. libzmq has a queue of its own and frees messages on its own thread,
// so only their bytes can be counted (queue_count.h).
#pragma once

#include <cstddef>
#include <deque>
#include <utility>

namespace tributary {

template <typename Message>
class MessageQueue {
 public:
  struct Entry {
    Entry(Message moved, std::size_t count) : message(std::move(moved)), bytes(count) {}
    Message message;
    std::size_t bytes;
  };

  // Returns the message in the queue. The reference is valid until the message is removed.
  Message& push(Message message, std::size_t bytes) {
    bytes_ += bytes;
    return entries_.emplace_back(std::move(message), bytes).message;
  }
  void drop_last() {
    bytes_ -= entries_.back().bytes;
    entries_.pop_back();
  }
  Message& front() { return entries_.front().message; }
  const Message& front() const { return entries_.front().message; }
  std::size_t front_bytes() const { return entries_.front().bytes; }
  // The first `bytes` bytes of the front message have been sent.
  void sent(std::size_t bytes) {
    entries_.front().bytes -= bytes;
    bytes_ -= bytes;
  }
  Message pop() {
    Message first = std::move(entries_.front().message);
    bytes_ -= entries_.front().bytes;
    entries_.pop_front();
    return first;
  }
  // Removes all messages and returns the number of bytes that were not sent.
  std::size_t clear() {
    entries_.clear();
    return std::exchange(bytes_, 0);
  }

  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  std::size_t bytes() const { return bytes_; }
  const std::deque<Entry>& entries() const { return entries_; }

 private:
  std::deque<Entry> entries_;
  std::size_t bytes_ = 0;
};

}  // namespace tributary
