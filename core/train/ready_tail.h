// Tracks the tail of an array that is complete. Ranges become ready approximately from the last to
// the first: parallel branches of a network finish in any order. first_value() is the position from
// which on everything is ready.
//
// Used by one thread; memory is proportional to the number of ranges that wait for a gap to close.
#pragma once

#include <cstdint>
#include <map>

namespace tributary {

class ReadyTail {
 public:
  explicit ReadyTail(std::uint64_t values) : first_(values) {}

  // Marks a range as ready. The caller guarantees that ranges do not overlap.
  void add(std::uint64_t first, std::uint64_t count) {
    if (count == 0) return;
    ahead_[first + count] = first;
    for (auto next = ahead_.find(first_); next != ahead_.end(); next = ahead_.find(first_)) {
      first_ = next->second;
      ahead_.erase(next);
    }
  }

  std::uint64_t first_value() const { return first_; }

 private:
  std::uint64_t first_;
  std::map<std::uint64_t, std::uint64_t> ahead_;  // ready ranges before a gap: first value, by end
};

}  // namespace tributary
