// Messages on their way, in order, and their bytes: those that wait to be sent to a peer, and those
// that are on a shaped line. The owner checks the bound (check_room) before it adds one. Belongs to
// one thread.
//
// ZeroMQ needs none: libzmq keeps its own queue and frees messages on a thread of its own, so that
// only their bytes can be counted here (queue_count.h).
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

  // Where it is then; it stays there until it is taken out.
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
  // So many bytes of the first message have left.
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
  // Returns the bytes that are not sent.
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
