// What a federation has left behind in its journals, and whether it adds up.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "core/base/status.h"
#include "core/round/records.h"

namespace tributary::end_to_end {

Result<AgentState> read_agent_journal(const std::string& path);
Result<CoordinatorState> read_coordinator_journal(const std::string& path);

// The model after the last commit, and the sum of all commits before dividing.
struct Committed {
  std::uint64_t version = 0;
  std::uint64_t model_hash = 0;
  FloatVector sum;
};
// The journal must still have the redo of every round.
Result<Committed> committed_of(const RestoredJob& job);

// Rounds whose updates an agent took into account, as far as is known.
using RoundsTaken = std::map<std::string, std::set<std::uint64_t>>;

// Everything that the agents computed is in a commit or in a residual, exactly.
void expect_conserved(const Committed& committed, std::uint64_t job_seed,
                      const std::map<std::string, AgentState>& agents, const RoundsTaken& taken);

}  // namespace tributary::end_to_end
