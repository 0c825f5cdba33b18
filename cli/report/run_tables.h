// The data of a report as CSV, for other tools. Pure functions. Numbers have a decimal point
// whatever the locale, and texts are quoted according to RFC 4180.
#pragma once

#include <string>

#include "cli/report/run_data.h"
#include "cli/report/run_figures.h"

namespace tributary::report {

// One line per round. Unknown fields are empty.
std::string rounds_csv(const RunData& data);
// One line per reading of the journal's metrics table, and `agent_loss` from the agents' reports.
std::string metrics_csv(const RunData& data);
// One line per switch.
std::string switches_csv(const RunFigures& figures);

}  // namespace tributary::report
