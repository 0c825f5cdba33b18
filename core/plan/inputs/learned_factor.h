// What a prediction is multiplied by, from what rounds have taken beside what was predicted
// (PlanInputs::corrections). A choice that was never taken is doubted as much as those that were:
// else the next one that nobody has tried always looks best, and a planner goes through all of
// them.
#pragma once

#include <map>
#include <string>

#include "core/cost/exchange_cost.h"

namespace tributary {

struct PlanCodec;

// The keys of the corrections.
std::string correction_key(wire::Collective collective, const PlanCodec& codec);

double learned_factor(const std::map<std::string, double>& corrections, wire::Collective collective,
                      const PlanCodec& codec);

}  // namespace tributary
