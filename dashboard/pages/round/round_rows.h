// Computes the Gantt chart of a round: the phases of each agent, the slowest agent first. Pure
// functions over a RoundDetail, without widgets.
#pragma once

#include <QString>
#include <cstddef>
#include <vector>

#include "core/run/round_detail.h"
#include "dashboard/pages/round/round_moments.h"
#include "dashboard/plot/data/plot_data.h"

namespace tributary::dashboard {

// An agent is a straggler if computing and encoding took longer than this multiple of the median.
inline constexpr double kStragglerFactor = 1.5;

struct RoundRows {
  std::vector<GanttRow> rows = {};
  std::vector<std::size_t> agents = {};  // index of the agent in each row
  QString note = {};                     // what is not shown, and the meaning of marks
};

// Returns indices of the round's agents in three groups: asked without a report, reported (the
// longest computing and encoding first), and not asked.
std::vector<std::size_t> slowest_first(const RoundDetail& detail);
// Returns the time of computing and encoding, in s. Unknown parts count as 0.
double busy_seconds(const AgentInRound& agent);
// Returns for each agent whether it was late: a straggler, left out, or only partly in the result.
std::vector<bool> stragglers_of(const RoundDetail& detail);

// Describes how far the agent's update is in the result.
QString part_text(const AgentInRound& agent, const RoundDetail& detail);

// Returns the chart with at most `rows_max` rows.
RoundRows round_rows(const RoundDetail& detail, std::size_t rows_max,
                     const std::vector<RoundMoment>& moments = {});

}  // namespace tributary::dashboard
