// One thread that does what it is handed, one after the other.
//
// At most waiting_max pieces of work wait behind the one under way. At this bound post() waits for
// room, and try_post() returns resource_exhausted. A thread that other parts wait for, such as a
// machine's loop, calls post() only where the work is short.
//
// Threads: post() and try_post() belong to any thread but this worker's own.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "core/base/status.h"

namespace tributary {

class Worker {
 public:
  static constexpr std::size_t kWaitingMax = 1024;

  explicit Worker(std::size_t waiting_max = kWaitingMax)
      : waiting_max_(waiting_max), thread_([this] { work(); }) {}
  // Finishes the work under way and drops what waits.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void post(std::function<void()> work);
  // An error: the work is dropped.
  [[nodiscard]] Status try_post(std::function<void()> work);

 private:
  void work();

  const std::size_t waiting_max_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable room_;
  std::deque<std::function<void()>> waiting_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace tributary
