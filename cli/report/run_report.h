// Writes the report of a run: from a coordinator's journal to a folder with a page, figures and
// tables.
//
// The folder may contain an earlier report, whose files are replaced. One thread.
#pragma once

#include <string>
#include <vector>

#include "cli/report/run_figures.h"
#include "core/base/status.h"

namespace tributary::report {

// A picture of the run that another program has drawn.
struct PagePicture {
  std::string title = {};
  std::string file = {};  // a PNG in the report's folder
};

struct ReportOptions {
  std::string run_file;  // a coordinator's journal; the coordinator may be running
  std::string folder;    // created if it does not exist
  std::string job = {};  // name or number; empty: the job submitted last
  // Embedded in the page; the files must be in `folder`.
  std::vector<PagePicture> pictures = {};
};

struct RunReport {
  RunFigures figures;
  std::string page;                // report.html
  std::vector<std::string> files;  // all files written, the page first
};

// Files are written atomically, one after the other. Fails if the journal has no such job or cannot
// be read, or if a file cannot be written.
Result<RunReport> write_report(const ReportOptions& options);

}  // namespace tributary::report
