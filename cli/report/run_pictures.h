// The pictures of a report, and what is missing in them.
#pragma once

#include <string>
#include <vector>

#include "cli/report/run_data.h"
#include "cli/report/run_figures.h"
#include "cli/report/svg/figure.h"

namespace tributary::report {

struct Section {
  std::string title = {};
  std::string text = {};  // what is shown, and how its numbers are meant
  std::vector<Figure> figures = {};
  std::vector<std::string> missing = {};  // what the journal does not have, in sentences
};

std::vector<Section> sections_of(const RunData& data, const RunFigures& figures);

}  // namespace tributary::report
