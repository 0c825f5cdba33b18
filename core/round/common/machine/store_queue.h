// The records that a machine has still to store, in order. One record at a time is handed to the
// host; the next follows when it is stored.
//
// A record that fails is requested again without limit, after a pause of 50 ms that doubles up to 5
// s: the machine may not continue without it, because the record is the base of a guarantee. Not
// thread-safe. `Done` functions run inside stored() and may push further records.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <string>
#include <utility>

#include "core/round/common/machine/actions.h"

namespace tributary {

template <typename Record>
class StoreQueue {
 public:
  using Done = std::function<void()>;

  void push(Record record, Done&& done = {}) {
    queue_.push_back({.record = std::move(record), .done = std::move(done)});
  }
  // The last record if it has not been handed out yet, so that the caller can extend it; null
  // otherwise. Valid until the next call.
  Record* open_tail() {
    const bool asked = queue_.size() == 1 && token_ != 0;
    return queue_.empty() || asked ? nullptr : &queue_.back().record;
  }
  // Runs `done` too when the last record is stored. Requires that the queue is not empty.
  void also(Done done) {
    queue_.back().done = [first = std::move(queue_.back().done), done = std::move(done)] {
      if (first) first();
      done();
    };
  }

  // Appends a request for the first record if none is unanswered and the pause after a failure is
  // over.
  void pump(TimeNs now, Actions& out) {
    if (queue_.empty() || token_ != 0 || now < again_at_ns_) return;
    token_ = ++last_token_;
    out.emplace_back(StoreRecord<Record>{.token = token_, .record = queue_.front().record});
  }

  // Handles the host's answer; ignores one with another token.
  void stored(TimeNs now, const Stored& event, Actions& out) {
    if (event.token != token_ || token_ == 0) return;
    token_ = 0;
    if (!event.status.ok()) {
      wait_ns_ = std::clamp<TimeNs>(wait_ns_ * 2, 50 * kNsPerMs, 5'000 * kNsPerMs);
      again_at_ns_ = now + wait_ns_;
      out.emplace_back(Note{.level = LogLevel::error,
                            .name = "store_failed",
                            .reason = name(event.status.code()),
                            .text = event.status.text()});
      return;
    }
    wait_ns_ = 0;
    again_at_ns_ = 0;
    const Done done = std::move(queue_.front().done);
    queue_.pop_front();
    if (done) done();
  }

  bool empty() const { return queue_.empty(); }
  std::size_t size() const { return queue_.size(); }
  // The time of the next request; kNever if the queue is empty or waits for an answer.
  TimeNs next_due_ns() const { return queue_.empty() || token_ != 0 ? kNever : again_at_ns_; }

 private:
  struct Item {
    Record record;
    Done done;
  };
  std::deque<Item> queue_;
  Token token_ = 0;  // of the record that the host is storing; 0: none
  Token last_token_ = 0;
  // Current pause after a failure, and the time of its end.
  TimeNs wait_ns_ = 0;
  TimeNs again_at_ns_ = 0;
};

}  // namespace tributary
