// A fixed number of threads that share loops over indexes.
//
// Threads: every member may be called from any thread at any time, also from inside a body. A
// loop's caller always works on its own loop and waits only for bodies that are already running, so
// nested and simultaneous loops cannot wait for one another in a circle. While it waits it runs no
// other loop's bodies, so a body may hold a lock over a nested loop.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "core/base/function_ref.h"

namespace tributary {

// The processors this process may run on, at least 1.
std::size_t hardware_threads();

class ThreadPool {
 public:
  // The calling thread of a loop is one of them: a pool of 1 starts none and runs inline. 0 is
  // taken as 1, more than kThreadsMax as kThreadsMax, and fewer run where the system gives fewer.
  explicit ThreadPool(std::size_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  static constexpr std::size_t kThreadsMax = 1024;
  std::size_t threads() const { return workers_.size() + 1; }

  // Calls body(i) once for every i in [0, count), in no stated order, and returns when all calls
  // have returned. What the bodies wrote is visible to the caller. If bodies throw, indexes not yet
  // begun are dropped and the first exception leaves here.
  void parallel_for(std::size_t count, FunctionRef<void(std::size_t)> body);

 private:
  struct Loop;
  void work();

  std::mutex mutex_;
  std::condition_variable work_added_;
  std::condition_variable helper_left_;
  std::deque<Loop*> open_;  // loops that may still have indexes to hand out
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace tributary
