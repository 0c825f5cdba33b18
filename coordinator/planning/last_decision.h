// Reads the last planning decision of a job from the coordinator's journal, so that a restarted
// coordinator continues with it.
//
// Called when a coordinator starts, once per planned job. One thread.
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/status.h"
#include "core/plan/inputs/inputs.h"
#include "core/store/coordinator/run_file.h"

namespace tributary {

// Number of recent rounds that are searched for a decision.
inline constexpr std::uint64_t kDecisionRoundsMax = 4096;
// Returns the inputs of the decision. Empty if the searched rounds contain none, or if this release
// cannot parse them. Returns the journal's error if it cannot be read.
Result<std::optional<PlanInputs>> last_decision(RunFile& run, std::uint64_t job);

}  // namespace tributary
