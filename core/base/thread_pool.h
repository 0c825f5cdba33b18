// A fixed number of threads that execute loops over indexes.
//
// Every member may be called from any thread at any time, also from inside a body. The caller of a
// loop works on its own loop and waits only for bodies that are already running. Nested and
// simultaneous loops therefore cannot deadlock. While it waits, it runs no bodies of other loops,
// so a body may hold a lock during a nested loop.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "core/base/function_ref.h"

namespace tributary {

// Number of processors on which this process may run, at least 1.
std::size_t hardware_threads();

// The destructor waits for the threads; no loop may be running.
class ThreadPool {
 public:
  // Starts threads - 1 threads, because the caller of a loop is one of them. A pool of 1 starts
  // none and runs loops inline. 0 counts as 1, and more than kThreadsMax as kThreadsMax. The pool
  // has fewer threads if the system provides fewer.
  explicit ThreadPool(std::size_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  static constexpr std::size_t kThreadsMax = 1024;
  std::size_t threads() const { return workers_.size() + 1; }

  // Calls body(i) once for every i in [0, count), in an unspecified order, and returns after all
  // calls have returned. Writes of the bodies are visible to the caller. If a body throws, indexes
  // that were not started are dropped, and the first exception is rethrown here.
  void parallel_for(std::size_t count, FunctionRef<void(std::size_t)> body);

 private:
  struct Loop;
  void work();

  std::mutex mutex_;
  std::condition_variable work_added_;
  std::condition_variable helper_left_;
  std::deque<Loop*> open_;  // loops that may have indexes left
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace tributary
