// Decides whether results go to the multicast group, or to each agent: a path that loses the
// group's packets shows in the results that must be sent again.
//
// Repeats alone do not show a dead path: a machine that stands still delays results on every path,
// and agents then repeat many contributions at once. So repeats are compared between both paths in
// turn. If many results to the group must be sent again, the next ones go to each agent. Only if
// hardly any of those must be sent again, and the group then fails again, several times in
// sequence, its path is dead. Results then go to each agent for a while, which doubles with every
// further attempt that fails. Repeats that go on without the group clear it.
//
// Pure; not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tributary::switchd {

class GroupWatch {
 public:
  // Takes the counters since the start: complete phases, and results sent again to one agent.
  void look(std::uint64_t results, std::uint64_t resent) {
    now_ = {.results = results, .resent = resent};
    switch (path_) {
      case Path::group:
        return look_at_group();
      case Path::trial:
        return look_at_trial();
      case Path::pause:
        if (results >= pause_end_) use(Path::group);
    }
  }
  bool uses_group() const { return path_ == Path::group; }
  // How often the group's path was found dead.
  std::uint64_t falls() const { return falls_; }

 private:
  enum class Path : std::uint8_t {
    group,
    trial,  // each agent, to compare
    pause,  // each agent, because the group's path is dead
  };
  struct Counts {
    std::uint64_t results = 0;
    std::uint64_t resent = 0;
  };

  static constexpr std::uint64_t kGroupPeriod = 1'024;  // more results than a job has slots
  static constexpr std::uint64_t kResentMin = 32;       // so few prove nothing
  static constexpr std::uint64_t kTrialQuiet = 1'024;   // results
  static constexpr std::uint64_t kTrialMax = 4'096;     // results
  static constexpr std::uint32_t kFailuresMax = 4;      // of the group in sequence
  static constexpr std::uint64_t kPauseMin = 1'024;     // results
  static constexpr std::uint64_t kPauseMax = 65'536;

  void look_at_group() {
    const Counts since = counts_since(period_);
    if (since.resent >= kResentMin && 4 * since.resent >= 3 * since.results) {
      if (++failures_ < kFailuresMax) return use(Path::trial);
      fall();
    } else if (since.results >= kGroupPeriod) {
      clear();
    }
  }
  // The first results sent again here are still those to the group.
  void look_at_trial() {
    const Counts since = counts_since(period_);
    if (8 * since.resent > since.results) period_ = now_;
    if (since.results >= kTrialQuiet && period_.results != now_.results) return use(Path::group);
    if (counts_since(path_since_).results >= kTrialMax) clear();
  }
  void fall() {
    ++falls_;
    pause_end_ = now_.results + pause_;
    pause_ = std::min(2 * pause_, kPauseMax);
    failures_ = kFailuresMax - 1;  // one more is enough
    use(Path::pause);
  }
  void clear() {
    failures_ = 0;
    pause_ = kPauseMin;
    use(Path::group);
  }
  void use(Path path) {
    path_ = path;
    path_since_ = period_ = now_;
  }
  Counts counts_since(const Counts& before) const {
    return {.results = now_.results - before.results, .resent = now_.resent - before.resent};
  }

  Path path_ = Path::group;
  Counts now_;
  Counts path_since_;  // the counters when the path was chosen
  Counts period_;      // and when its last period began
  std::uint32_t failures_ = 0;
  std::uint64_t pause_end_ = 0;  // results
  std::uint64_t pause_ = kPauseMin;
  std::uint64_t falls_ = 0;
};

}  // namespace tributary::switchd
