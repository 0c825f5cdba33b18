// Draws the planner's alternatives as a Pareto chart: predicted time of a round against 1 / gain.
// Points further down are faster; points further left lose less of the update.
//
// Pure functions over the alternatives of one plan.
#pragma once

#include <QString>
#include <cstddef>
#include <optional>
#include <vector>

#include "core/run/round_detail.h"
#include "dashboard/plot/data/plot_data.h"

namespace tributary::dashboard {

// Formats an alternative: "topk:cr=0.0155 by star".
QString alternative_text(const PlanAlternative& alternative);

// Returns the index of the chosen alternative. Empty for a plan without a choice.
std::optional<std::size_t> chosen_of(const std::vector<PlanAlternative>& alternatives);

// Returns the position of an alternative: x is 1 / gain, y the predicted time in seconds. Empty if
// its gain is zero or it has no prediction.
std::optional<Sample> pareto_place(const PlanAlternative& alternative);

// Returns the members of the Pareto set that no other one dominates in time and gain, from left to
// right. The planner's set uses further criteria, so some of its members are not on this line.
std::vector<Sample> pareto_line(const std::vector<PlanAlternative>& alternatives);

// Whether the predicted times spread so widely that the chart needs a logarithmic axis.
bool spread_widely(const std::vector<PlanAlternative>& alternatives);

// Returns all alternatives as dots, the Pareto set also with its line. A cross of lines marks the
// chosen and the selected alternative.
std::vector<PlotCurve> pareto_curves(const std::vector<PlanAlternative>& alternatives,
                                     std::optional<std::size_t> selected);

}  // namespace tributary::dashboard
