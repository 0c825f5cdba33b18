// What a plan could choose from, as a picture: what a round was predicted to take against how
// little of the update gets through.
#pragma once

#include <QString>
#include <cstddef>
#include <optional>
#include <vector>

#include "core/run/round_detail.h"
#include "dashboard/plot/data/plot_data.h"

namespace tributary::dashboard {

// "topk:cr=0.0155 by star".
QString alternative_text(const PlanAlternative& alternative);

// The knee; none where the plan was made without a choice.
std::optional<std::size_t> chosen_of(const std::vector<PlanAlternative>& alternatives);

// Where an alternative stands: 1/gain, and the predicted seconds of a round. None where it has no
// place: nothing of it gets through, or nothing was predicted.
std::optional<Sample> pareto_place(const PlanAlternative& alternative);

// Of the Pareto set those that nothing beats in these two, from left to right; the set is made of
// more than these two, so that others of it lie behind them.
std::vector<Sample> pareto_line(const std::vector<PlanAlternative>& alternatives);

// Whether what rounds take differs by so much that only a logarithm shows it.
bool spread_widely(const std::vector<PlanAlternative>& alternatives);

// All as dots; the Pareto set with its line; the chosen one, and the one that is selected, by a
// cross of lines.
std::vector<PlotCurve> pareto_curves(const std::vector<PlanAlternative>& alternatives,
                                     std::optional<std::size_t> selected);

}  // namespace tributary::dashboard
