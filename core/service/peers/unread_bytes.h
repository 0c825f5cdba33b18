// A bound on the bytes of messages that the machine has received and not released.
//
// The reader asks has_space() before it reads the next message. One message may exceed the bound,
// because its size is only known after it was read.
//
// Not thread-safe; the owner locks.
#pragma once

#include <cassert>
#include <cstddef>

namespace tributary {

class UnreadBytes {
 public:
  explicit UnreadBytes(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  bool has_space() const { return bytes_ < bytes_max_; }
  std::size_t bytes() const { return bytes_; }

  void hand_out(std::size_t bytes) { bytes_ += bytes; }
  // Releases bytes that were passed to hand_out().
  void let_go(std::size_t bytes) {
    assert(bytes <= bytes_);
    bytes_ -= bytes;
  }

 private:
  const std::size_t bytes_max_;
  std::size_t bytes_ = 0;
};

}  // namespace tributary
