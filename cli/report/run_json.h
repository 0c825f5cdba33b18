// The figures of a report for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "cli/report/run_figures.h"

namespace tributary::report {

// What is not known is null.
nlohmann::ordered_json json_of(const RunFigures& figures);

}  // namespace tributary::report
