// Decides whether results go to the multicast group, or to each agent: a path that loses the
// group's packets shows in the results that must be sent again.
//
// If three of four results, or more, are sent again to some agent, results go to each agent for a
// while, which doubles with every further attempt that fails. Pure; not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tributary::switchd {

class GroupWatch {
 public:
  // Takes the counters since the start: complete phases, and results sent again to one agent.
  void look(std::uint64_t results, std::uint64_t resent) {
    if (results < group_at_) return;
    if (paused_) begin_period(results, resent);
    paused_ = false;
    const std::uint64_t given = results - results_before_;
    const std::uint64_t again = resent - resent_before_;
    if (again >= kResentMin && 4 * again >= 3 * given) {
      paused_ = true;
      group_at_ = results + pause_;
      pause_ = std::min(2 * pause_, kPauseMax);
      ++falls_;
    } else if (given >= kPeriod) {
      pause_ = kPauseMin;
      begin_period(results, resent);
    }
  }
  bool uses_group() const { return !paused_; }
  // How often results fell to unicast.
  std::uint64_t falls() const { return falls_; }

 private:
  static constexpr std::uint64_t kPeriod = 256;    // results
  static constexpr std::uint64_t kResentMin = 32;  // so few prove nothing
  static constexpr std::uint64_t kPauseMin = 1'024;
  static constexpr std::uint64_t kPauseMax = 65'536;

  void begin_period(std::uint64_t results, std::uint64_t resent) {
    results_before_ = results;
    resent_before_ = resent;
  }

  std::uint64_t results_before_ = 0;
  std::uint64_t resent_before_ = 0;
  std::uint64_t group_at_ = 0;  // results until the group is tried again
  std::uint64_t pause_ = kPauseMin;
  std::uint64_t falls_ = 0;
  bool paused_ = false;
};

}  // namespace tributary::switchd
