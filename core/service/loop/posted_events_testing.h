// Receives the events that another thread posts to a machine.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <utility>

#include "core/round/common/machine/events.h"

namespace tributary::service_testing {

// It must outlive the objects that post to it.
class PostedEvents {
 public:
  // Returns a function that may be called on any thread.
  std::function<void(Event)> poster() {
    return [this](Event event) {
      const std::lock_guard lock(mutex_);
      events_.push_back(std::move(event));
      changed_.notify_all();
    };
  }

  // Waits for the next event, which must be of type `Kind`.
  template <typename Kind>
  Kind next() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kPatience, [this] { return !events_.empty(); })) {
      ADD_FAILURE() << "no event";
      return {};
    }
    Event event = std::move(events_.front());
    events_.pop_front();
    Kind* const found = std::get_if<Kind>(&event);
    EXPECT_NE(found, nullptr) << "another event";
    return found ? std::move(*found) : Kind();
  }

 private:
  static constexpr std::chrono::seconds kPatience{60};

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Event> events_;
};

}  // namespace tributary::service_testing
