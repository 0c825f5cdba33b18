// A run that is being written: a hundred agents that all report on ten rounds a second, through the
// coordinator's own journal.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "core/base/clock.h"
#include "core/store/coordinator/coordinator_journal.h"

namespace tributary::bench {

inline constexpr std::uint32_t kPacedAgents = 100;
inline constexpr std::uint32_t kPacedRoundsPerS = 10;

class PacedRun {
 public:
  // A job, its epoch and its agents.
  static Result<std::unique_ptr<PacedRun>> begin(const std::string& path);

  // At the pace of its agents, or, without one, as fast as it can be written; its dates follow the
  // former either way.
  Status write(std::uint64_t rounds, bool paced);

 private:
  Status write_job();
  Status write_round(std::uint64_t number);

  ManualClock dates_;
  std::unique_ptr<CoordinatorJournal> journal_;
};

}  // namespace tributary::bench
