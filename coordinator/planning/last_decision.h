// What a job's planner has decided last, from the coordinator's journal: with it a coordinator that
// starts again goes on as before.
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/status.h"
#include "core/plan/inputs/inputs.h"
#include "core/store/coordinator/run_file.h"

namespace tributary {

// Nothing: no round of the last kDecisionRoundsMax was decided on, or what it was decided from
// cannot be read by this release.
inline constexpr std::uint64_t kDecisionRoundsMax = 4096;
Result<std::optional<PlanInputs>> last_decision(RunFile& run, std::uint64_t job);

}  // namespace tributary
