// The report as one HTML page: no script, nothing from the network.
#pragma once

#include <string>
#include <vector>

#include "cli/report/run_data.h"
#include "cli/report/run_figures.h"
#include "cli/report/run_pictures.h"

namespace tributary::report {

// Of another program's, as it is to be seen in the page.
struct ShownPicture {
  std::string title = {};
  std::string source = {};  // a URI that needs no network
};

std::string page_of(const RunData& data, const RunFigures& figures,
                    const std::vector<Section>& sections,
                    const std::vector<ShownPicture>& pictures);

}  // namespace tributary::report
