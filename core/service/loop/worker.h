// One thread that runs pieces of work in order.
//
// At most `waiting_max` pieces wait behind the one that runs. At this bound post() blocks until one
// is done, and try_post() returns resource_exhausted. A thread on which others depend, such as a
// machine's loop, calls post() only if the work is short.
//
// Thread rule: any thread except the worker's own may call post() and try_post().
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
  static constexpr std::size_t kWaitingMax = 1024;  // default bound on waiting work

  // The system shows `name`, of at most 15 characters, as the name of the thread. It must live as
  // long as the program.
  explicit Worker(const char* name, std::size_t waiting_max = kWaitingMax)
      : waiting_max_(waiting_max), thread_([this, name] { work(name); }) {}
  // Finishes the work that runs and drops what waits.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void post(std::function<void()> work);
  // On an error the work is dropped.
  [[nodiscard]] Status try_post(std::function<void()> work);

 private:
  void work(const char* name);

  const std::size_t waiting_max_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable place_free_;
  std::deque<std::function<void()>> waiting_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace tributary
