// One round as a Gantt chart: what each agent did, the slowest first.
#pragma once

#include <QString>
#include <cstddef>
#include <vector>

#include "core/run/round_detail.h"
#include "dashboard/pages/round/round_moments.h"
#include "dashboard/plot/data/plot_data.h"

namespace tributary::dashboard {

// Longer than so many times the middle one's computing and encoding: a straggler.
inline constexpr double kStragglerFactor = 1.5;

struct RoundRows {
  std::vector<GanttRow> rows = {};
  std::vector<std::size_t> agents = {};  // which one each row is of
  QString note = {};                     // what is not shown, and what a mark means
};

// Indices into the round's agents: those who were asked and did not report, then by what they took
// to compute and encode, then those who were not asked.
std::vector<std::size_t> slowest_first(const RoundDetail& detail);
// What it spent on computing and encoding; what it did not tell counts for nothing.
double busy_seconds(const AgentInRound& agent);
// By index.
std::vector<bool> stragglers_of(const RoundDetail& detail);

QString part_text(const AgentInRound& agent, const RoundDetail& detail);

RoundRows round_rows(const RoundDetail& detail, std::size_t rows_max,
                     const std::vector<RoundMoment>& moments = {});

}  // namespace tributary::dashboard
