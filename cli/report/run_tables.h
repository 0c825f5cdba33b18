// The figures of a report as CSV, for those who want to draw their own pictures.
#pragma once

#include <string>

#include "cli/report/run_data.h"
#include "cli/report/run_figures.h"

namespace tributary::report {

// A line for each round; empty where nothing is known.
std::string rounds_csv(const RunData& data);
// A line for each reading of the journal's metrics table, and `agent_loss` from the agents'
// reports.
std::string metrics_csv(const RunData& data);
std::string switches_csv(const RunFigures& figures);

}  // namespace tributary::report
