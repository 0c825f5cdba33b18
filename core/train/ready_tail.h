// From which value on everything is there, when ranges become ready in an order that is only mostly
// from the last to the first: branches of a network that join again are done as they come.
#pragma once

#include <cstdint>
#include <map>

namespace tributary {

class ReadyTail {
 public:
  explicit ReadyTail(std::uint64_t values) : first_(values) {}

  // Ranges do not overlap.
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
  std::map<std::uint64_t, std::uint64_t> ahead_;  // ready, behind a gap: first by end
};

}  // namespace tributary
