// The factor of a predicted exchange time, learned from earlier rounds (PlanInputs::corrections).
//
// A choice that was never made gets about the mean correction of those that were made. Without
// this, an untried choice always looks best, and the planner tries all of them one after another.
// Both functions are pure.
#pragma once

#include <map>
#include <string>

#include "core/cost/exchange_cost.h"

namespace tributary {

struct PlanCodec;

// Returns the key of a pair of collective and codec in the corrections.
std::string correction_key(wire::Collective collective, const PlanCodec& codec);

// Returns the pair's own factor. If it has none, returns a mean of all factors and of those of the
// same collective, increased slightly if the collective was never used.
double learned_factor(const std::map<std::string, double>& corrections, wire::Collective collective,
                      const PlanCodec& codec);

}  // namespace tributary
