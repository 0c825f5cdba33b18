// The report of a run: from a coordinator's journal to a folder with a page, its pictures and its
// figures.
#pragma once

#include <string>
#include <vector>

#include "cli/report/run_figures.h"
#include "core/base/status.h"

namespace tributary::report {

// One that another program has drawn of the run.
struct PagePicture {
  std::string title = {};
  std::string file = {};  // a PNG, in the report's folder
};

struct ReportOptions {
  std::string run_file;  // a coordinator's journal; it may be running
  std::string folder;    // is made where it is not there
  std::string job = {};  // its name or number; empty: the one submitted last
  std::vector<PagePicture> pictures = {};
};

struct RunReport {
  RunFigures figures;
  std::string page;                // report.html
  std::vector<std::string> files;  // that were written, the page first
};

Result<RunReport> write_report(const ReportOptions& options);

}  // namespace tributary::report
