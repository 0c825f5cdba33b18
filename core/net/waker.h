// Wakes a thread that waits on sockets or on nothing else. It owns an eventfd. Any thread may
// signal; one thread waits.
//
// Signals are not counted: several signals before a take() are one. signal() never blocks and may
// be called while the waiting thread is not waiting; the next wait then returns at once.
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
  // Returns whether signal() was called since the last call.
  bool take() const;
  // Waits until signal() is called, or for about `time`.
  void wait(std::chrono::nanoseconds time) const;
  int file() const { return file_; }

 private:
  explicit Waker(int file) : file_(file) {}
  int file_;
};

}  // namespace tributary
