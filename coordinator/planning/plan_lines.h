// What is measured of the links of some agents, as a planner takes it.
#pragma once

#include <string>
#include <vector>

#include "coordinator/links/link_figures.h"
#include "core/plan/planner.h"

namespace tributary {

// With more agents than this, pairs of them are too many to ask for each: their own lines stand for
// them.
inline constexpr std::size_t kPairedAgentsMax = 64;

// What is known of latencies, and of pairs, with less confidence than this is as good as not known:
// probes of quick lines may be wrong by a lot, and say so. Of rates the planner judges itself.
inline constexpr double kPlannedConfidence = 0.3;

PlanLines plan_lines(const LinkFigures& figures, const std::vector<std::string>& agents,
                     double now_s);

}  // namespace tributary
