// Lets the dashboard's program draw pictures of a run for a report. The program may not be
// installed, and the time is bounded.
//
// Blocks until all pictures are drawn, one process at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/report/run_report.h"
#include "core/base/status.h"

namespace tributary {

// Called repeatedly while pictures are drawn. Returns false to stop.
using PictureProgress = std::function<bool(std::uint64_t done, std::uint64_t total)>;

// Draws the job that was submitted last. The pictures are written to `folder`, which is created if
// necessary; after an error none remain. Fails with not_found without an installed dashboard, with
// cancelled, or with deadline_exceeded after 40 s per picture.
Result<std::vector<report::PagePicture>> draw_dashboard_pictures(const std::string& run_file,
                                                                 const std::string& folder,
                                                                 const PictureProgress& progress);

}  // namespace tributary
