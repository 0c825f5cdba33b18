// What is measured of the links of some agents, as a planner takes it.
#pragma once

#include <string>
#include <vector>

#include "coordinator/link_figures.h"
#include "core/plan/planner.h"

namespace tributary {

// With more agents than this, pairs of them are too many to ask for each: their own lines stand for
// them.
inline constexpr std::size_t kPairedAgentsMax = 64;

PlanLines plan_lines(const LinkFigures& figures, const std::vector<std::string>& agents,
                     double now_s);

}  // namespace tributary
