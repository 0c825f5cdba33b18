#include "core/service/loop/worker.h"

#include <fmt/format.h>
#include <pthread.h>

#include <utility>

namespace tributary {

Worker::~Worker() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Worker::post(std::function<void()> work) {
  {
    std::unique_lock lock(mutex_);
    place_free_.wait(lock, [&] { return waiting_.size() < waiting_max_; });
    waiting_.push_back(std::move(work));
  }
  changed_.notify_one();
}

Status Worker::try_post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= waiting_max_) {
      return {StatusCode::resource_exhausted,
              {.what = "queue of a worker thread",
               .expected = fmt::format("at most {} tasks", waiting_max_),
               .got = "one more",
               .remedy = "try again when some tasks are done"}};
    }
    waiting_.push_back(std::move(work));
  }
  changed_.notify_one();
  return {};
}

void Worker::work(const char* name) {
  ::pthread_setname_np(::pthread_self(), name);
  while (true) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ending_ || !waiting_.empty(); });
    if (ending_) return;
    const std::function<void()> next = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    place_free_.notify_one();  // one place is free, so one waiting post() can continue
    next();
  }
}

}  // namespace tributary
