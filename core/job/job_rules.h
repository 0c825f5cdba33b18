// Rules about combinations of a job's settings that are each valid but make no sense together.
//
// One table holds all of them. A rule either refuses the job or warns its operator, and always says
// why and what to take instead. All functions are pure.
#pragma once

#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/job/job_settings.h"

namespace tributary {

// Returns mismatch if a rule refuses the job. Specs that cannot be parsed are ignored here.
Status check_rules(const JobSettings& job);

// One sentence or two for each rule that applies to the job without refusing it.
std::vector<std::string> job_warnings(const JobSettings& job);

}  // namespace tributary
