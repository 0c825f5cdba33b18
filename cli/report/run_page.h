// Builds the report as a single HTML page. It contains no script and loads nothing from the
// network. All texts of the run are escaped. A pure function. Tables and lines are cut, so the page
// stays small enough for a browser.
#pragma once

#include <string>
#include <vector>

#include "cli/report/run_data.h"
#include "cli/report/run_figures.h"
#include "cli/report/run_pictures.h"

namespace tributary::report {

// A picture that another program has made, ready for the page.
struct ShownPicture {
  std::string title = {};
  std::string source = {};  // a data URI
};

// `figures` and `sections` must be made from `data`.
std::string page_of(const RunData& data, const RunFigures& figures,
                    const std::vector<Section>& sections,
                    const std::vector<ShownPicture>& pictures);

}  // namespace tributary::report
