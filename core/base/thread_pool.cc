#include "core/base/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>

namespace tributary {

std::size_t hardware_threads() {
  // The mask may be wider than cpu_set_t; the kernel says EINVAL until the buffer is large enough.
  for (std::size_t cpus = CPU_SETSIZE; cpus <= (std::size_t{1} << 20); cpus *= 2) {
    std::vector<cpu_set_t> mask(cpus / CPU_SETSIZE);
    const std::size_t size = mask.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, size, mask.data()) == 0) {
      return static_cast<std::size_t>(std::max(1, CPU_COUNT_S(size, mask.data())));
    }
  }
  return std::max<std::size_t>(1, std::thread::hardware_concurrency());
}

// Lives on its caller's stack. `helpers` is guarded by the pool's mutex; a helper enters while the
// loop is in open_, and the caller leaves only after the loop is out of it and all have left.
struct ThreadPool::Loop {
  Loop(std::size_t n, FunctionRef<void(std::size_t)> f) : count(n), body(f) {}

  void run() {
    try {
      for (std::size_t i = take(); i < count; i = take()) body(i);
    } catch (...) {
      if (!failed.exchange(true)) error = std::current_exception();
      next.store(count);
    }
  }
  // The counter stops at count: it cannot wrap round however many threads ask.
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
    // The system gives no more threads: go on with those there are.
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
    // Nothing is left to hand out; its caller may have noticed already.
    std::erase(open_, &loop);
    if (--loop.helpers == 0) helper_left_.notify_all();
  }
}

}  // namespace tributary
