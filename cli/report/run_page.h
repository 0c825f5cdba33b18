// The report as one HTML page: no script, nothing from the network.
#pragma once

#include <string>
#include <vector>

#include "cli/report/run_data.h"
#include "cli/report/run_figures.h"
#include "cli/report/run_pictures.h"

namespace tributary::report {

std::string page_of(const RunData& data, const RunFigures& figures,
                    const std::vector<Section>& sections);

}  // namespace tributary::report
