// Builds the figures of a report, and states which data is missing. Pure functions. A section
// always explains what it shows; missing data are named instead of leaving a picture out silently.
#pragma once

#include <string>
#include <vector>

#include "cli/report/run_data.h"
#include "cli/report/run_figures.h"
#include "cli/report/svg/figure.h"

namespace tributary::report {

struct Section {
  std::string title = {};
  std::string text = {};  // what the figures show and how to read them
  std::vector<Figure> figures = {};
  std::vector<std::string> missing = {};  // sentences about data that the journal does not have
};

// Returns the sections in the order of the page. Empty for a run without rounds.
std::vector<Section> sections_of(const RunData& data, const RunFigures& figures);

}  // namespace tributary::report
