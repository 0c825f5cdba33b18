// The part of a job's budgets that earlier processes of the coordinator have spent, read from its
// journal.
//
// Called once per planned job, after a restart. The days are those of UTC, so a budget begins anew
// at the same moment for all agents.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/base/status.h"
#include "core/store/coordinator/run_file.h"

namespace tributary {

struct PlanSpent {
  double seconds = 0;                               // duration of all committed rounds
  std::uint64_t day = 0;                            // the day of `bytes`, counted from 1970 in UTC
  std::map<std::string, std::uint64_t> bytes = {};  // reported on that day, by agent
};

// `now_wall_ns` selects the day. Returns the journal's error if it cannot be read. Reads the
// reports of the whole job.
Result<PlanSpent> read_spent(RunFile& run, std::uint64_t job, std::int64_t now_wall_ns);

}  // namespace tributary
