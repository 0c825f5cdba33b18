// Writes a run like a live coordinator: a hundred agents that report on ten rounds per second,
// through the coordinator's own journal.
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
  // Creates the file with a job, its epoch and its agents. Fails as CoordinatorJournal::open()
  // does.
  static Result<std::unique_ptr<PacedRun>> begin(const std::string& path);

  // Writes this many rounds: in real time if `paced`, and otherwise as fast as possible. The dates
  // in the file are those of the real pace in both cases.
  Status write(std::uint64_t rounds, bool paced);

 private:
  Status write_job();
  Status write_round(std::uint64_t number);

  ManualClock dates_;
  std::unique_ptr<CoordinatorJournal> journal_;
};

}  // namespace tributary::bench
