// The key figures of a report as JSON, for programs. Keys are public, so they stay.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "cli/report/run_figures.h"

namespace tributary::report {

// Unknown figures are null.
nlohmann::ordered_json json_of(const RunFigures& figures);

}  // namespace tributary::report
