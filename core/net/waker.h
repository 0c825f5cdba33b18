// Makes whoever waits, on sockets or on nothing else, look up. Any thread may signal.
#pragma once

#include <chrono>
#include <utility>

#include "core/base/status.h"

namespace tributary {

class Waker {
 public:
  static Result<Waker> open();
  Waker(Waker&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  Waker& operator=(Waker&&) = delete;
  ~Waker();

  void signal() const;
  // True when somebody has signalled since the last call.
  bool take() const;
  // Until somebody signals, or about so long.
  void wait(std::chrono::nanoseconds time) const;
  int file() const { return file_; }

 private:
  explicit Waker(int file) : file_(file) {}
  int file_;
};

}  // namespace tributary
