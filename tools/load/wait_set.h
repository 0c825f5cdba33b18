// Waits for many members, each of which has a few descriptors, with one system call. It owns an
// epoll file. A member is ready when one of its descriptors is readable. Not thread-safe.
//
// A descriptor belongs to one member. Members may close their descriptors at any time, and call
// watch() again before the next wait(). Cost of a wait: the number of ready members, not of all.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/status.h"

namespace tributary {

class WaitSet {
 public:
  static Result<WaitSet> open();
  WaitSet(WaitSet&& other) noexcept
      : epoll_(std::exchange(other.epoll_, -1)),
        members_(std::move(other.members_)),
        owners_(std::move(other.owners_)) {}
  WaitSet& operator=(WaitSet&&) = delete;
  ~WaitSet();

  // Sets the member's descriptors. Free if they are those of the last call.
  Status watch(std::size_t member, std::span<const int> files);
  // Returns the ready members, each once and in order. Waits for the first one at most `time`.
  Result<std::vector<std::size_t>> wait(std::chrono::nanoseconds time);

 private:
  explicit WaitSet(int epoll) : epoll_(epoll) {}
  void forget(std::size_t member);

  int epoll_;
  std::vector<std::vector<int>> members_;        // by member
  std::unordered_map<int, std::size_t> owners_;  // by descriptor
};

}  // namespace tributary
