// Gives a job's planner what the journal knows of it, so that a restarted coordinator continues
// with the last plan and no budget begins anew.
//
// Called before any round, once per planned job. One thread.
#pragma once

#include <filesystem>

#include "coordinator/planning/plan_service.h"
#include "core/base/clock.h"
#include "core/base/status.h"

namespace tributary {

// Returns the journal's error if it cannot be read; rounds then start with the settings of the job.
Status resume_plan(PlanService& planner, std::uint64_t job, const std::filesystem::path& journal,
                   const Clock& clock);

}  // namespace tributary
