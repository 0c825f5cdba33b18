#include "core/base/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>

namespace tributary {

std::size_t hardware_threads() {
  // The mask may be larger than cpu_set_t. The kernel returns EINVAL until the buffer is large
  // enough.
  for (std::size_t cpus = CPU_SETSIZE; cpus <= (std::size_t{1} << 20); cpus *= 2) {
    std::vector<cpu_set_t> mask(cpus / CPU_SETSIZE);
    const std::size_t size = mask.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, size, mask.data()) == 0) {
      return static_cast<std::size_t>(std::max(1, CPU_COUNT_S(size, mask.data())));
    }
  }
  return std::max<std::size_t>(1, std::thread::hardware_concurrency());
}

// A running loop; it lives on its caller's stack. The pool's mutex guards `helpers`. A helper
// enters while the loop is in open_. The caller returns only after the loop was removed from open_
// and all helpers have left.
struct ThreadPool::Loop {
  Loop(std::size_t n, FunctionRef<void(std::size_t)> f) : count(n), body(f) {}

  void run() {
    try {
      for (std::size_t i = take(); i < count; i = take()) body(i);
    } catch (...) {
      // Only the first thread that fails writes `error`; the caller reads it after all helpers have
      // left.
      if (!failed.exchange(true)) error = std::current_exception();
      next.store(count);
    }
  }
  // The counter stops at `count`, so it cannot overflow, however many threads call take().
  std::size_t take() {
    std::size_t i = next.load(std::memory_order_relaxed);
    while (i < count && !next.compare_exchange_weak(i, i + 1, std::memory_order_relaxed)) {
    }
    return i;
  }

  const std::size_t count;
  const FunctionRef<void(std::size_t)> body;
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr error;
  std::size_t helpers = 0;
};

ThreadPool::ThreadPool(std::size_t threads) {
  try {
    for (std::size_t i = 1; i < std::min(threads, kThreadsMax); ++i) {
      workers_.emplace_back([this] { work(); });
    }
  } catch (const std::system_error&) {
    // The system provides no more threads; the pool works with the existing ones.
  }
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_added_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::parallel_for(std::size_t count, FunctionRef<void(std::size_t)> body) {
  // Inline: exceptions of the body leave directly, and no lock is taken.
  if (workers_.empty() || count <= 1) {
    for (std::size_t i = 0; i < count; ++i) body(i);
    return;
  }
  Loop loop(count, body);
  {
    std::lock_guard lock(mutex_);
    open_.push_back(&loop);
  }
  for (std::size_t i = 0; i < std::min(workers_.size(), count - 1); ++i) work_added_.notify_one();
  loop.run();

  std::unique_lock lock(mutex_);
  std::erase(open_, &loop);
  helper_left_.wait(lock, [&] { return loop.helpers == 0; });
  if (loop.error) std::rethrow_exception(loop.error);
}

void ThreadPool::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_added_.wait(lock, [&] { return stopping_ || !open_.empty(); });
    if (open_.empty()) return;
    Loop& loop = *open_.front();
    ++loop.helpers;
    lock.unlock();
    loop.run();
    lock.lock();
    // No index is left. The caller may have removed the loop already.
    std::erase(open_, &loop);
    if (--loop.helpers == 0) helper_left_.notify_all();
  }
}

}  // namespace tributary
