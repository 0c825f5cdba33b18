// Virtual time and the tasks that run in it. Tasks for the same time run in the order in which they
// were added, so that a run repeats exactly. Not thread-safe.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/round/common/machine/events.h"

namespace tributary {

constexpr TimeNs kMs = 1'000'000;
constexpr TimeNs kS = 1000 * kMs;

class EventQueue {
 public:
  TimeNs now_ns() const { return now_ns_; }
  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  std::uint64_t done() const { return done_; }
  TimeNs next_at_ns() const { return heap_.front().at_ns; }

  // Runs `body` at `at_ns`, or now if that time has passed.
  template <std::invocable Body>
  void at(TimeNs at_ns, Body body) {
    heap_.push_back(
        {std::max(at_ns, now_ns_), asked_++, std::make_unique<TaskOf<Body>>(std::move(body))});
    std::ranges::push_heap(heap_, Later{});
  }
  template <std::invocable Body>
  void after(TimeNs delay_ns, Body body) {
    at(now_ns_ + delay_ns, std::move(body));
  }

  // Advances the time to the next task and runs it. The queue must not be empty.
  void run_next() {
    std::ranges::pop_heap(heap_, Later{});
    Entry entry = std::move(heap_.back());
    heap_.pop_back();
    now_ns_ = entry.at_ns;
    ++done_;
    entry.task->run();
  }
  void clear() { heap_.clear(); }

 private:
  struct Task {
    virtual ~Task() = default;
    virtual void run() = 0;
  };
  template <typename Body>
  struct TaskOf final : Task {
    explicit TaskOf(Body made) : body(std::move(made)) {}
    void run() override { body(); }
    Body body;
  };
  struct Entry {
    TimeNs at_ns;
    std::uint64_t number;
    std::unique_ptr<Task> task;
  };
  struct Later {
    bool operator()(const Entry& a, const Entry& b) const {
      return a.at_ns != b.at_ns ? a.at_ns > b.at_ns : a.number > b.number;
    }
  };

  TimeNs now_ns_ = 0;
  // Number of tasks that were ever added. It breaks ties between tasks of the same time.
  std::uint64_t asked_ = 0;
  std::uint64_t done_ = 0;
  std::vector<Entry> heap_;
};

}  // namespace tributary
