// Converts the measured links of some agents to the inputs of a planner. A pure function of its
// arguments; the order of the result is that of `agents`.
#pragma once

#include <string>
#include <vector>

#include "coordinator/links/link_figures.h"
#include "core/plan/planner.h"

namespace tributary {

// Bound on the number of agents whose links between each other are looked up, because pairs grow
// with its square. With more agents, their links to the coordinator stand in.
inline constexpr std::size_t kPairedAgentsMax = 64;

// Least confidence of a latency or of a link between agents. Below it the value counts as unknown,
// because probes of fast links may be far off. The planner judges the confidence of rates itself.
inline constexpr double kPlannedConfidence = 0.3;

// NaN: unknown. `now_s` is the same clock as that of `figures`.
PlanLinks plan_links(const LinkFigures& figures, const std::vector<std::string>& agents,
                     double now_s);

}  // namespace tributary
