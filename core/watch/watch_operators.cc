#include "core/watch/watch_operators.h"

#include <utility>

namespace tributary {

WatchOperators::WatchOperators(std::function<std::string(std::string_view)> ask,
                               std::function<void()> answered)
    : ask_(std::move(ask)), answered_(std::move(answered)), thread_([this] { work(); }) {}

WatchOperators::~WatchOperators() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool WatchOperators::ask(ConnectionId connection, std::uint64_t number, std::string json) {
  {
    const std::lock_guard lock(mutex_);
    if (asked_.size() >= kWaitingMax) return false;
    asked_.push_back({.connection = connection, .number = number, .json = std::move(json)});
  }
  changed_.notify_all();
  return true;
}

std::vector<WatchOperators::Answered> WatchOperators::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(answers_, {});
}

// The lock is released during ask_(), which may take long, and during answered_(), which may take
// other locks.
void WatchOperators::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !asked_.empty(); });
    if (ending_) return;
    Answered question = std::move(asked_.front());
    asked_.pop_front();
    lock.unlock();
    question.json = ask_(question.json);
    lock.lock();
    answers_.push_back(std::move(question));
    lock.unlock();
    answered_();
    lock.lock();
  }
}

}  // namespace tributary
