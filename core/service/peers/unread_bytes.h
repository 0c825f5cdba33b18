// The bound on bytes of messages that the machine has been handed and has not let go of.
//
// A reader asks has_room() before it reads the next message. The bound may be passed by one
// message, because its size is known only once it is read.
//
// Threads: one at a time; the owner locks.
#pragma once

#include <cassert>
#include <cstddef>

namespace tributary {

class UnreadBytes {
 public:
  explicit UnreadBytes(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  bool has_room() const { return bytes_ < bytes_max_; }
  std::size_t bytes() const { return bytes_; }

  void hand_out(std::size_t bytes) { bytes_ += bytes; }
  // Of what was handed out.
  void let_go(std::size_t bytes) {
    assert(bytes <= bytes_);
    bytes_ -= bytes;
  }

 private:
  const std::size_t bytes_max_;
  std::size_t bytes_ = 0;
};

}  // namespace tributary
