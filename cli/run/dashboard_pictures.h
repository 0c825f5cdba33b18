// Pictures of a run as the dashboard draws them, for a report: by its own program, which may not be
// installed, and within a bounded time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/report/run_report.h"
#include "core/base/status.h"

namespace tributary {

// Asked again and again while pictures are drawn; false stops it. `done` of `total` are there.
using PictureProgress = std::function<bool(std::uint64_t done, std::uint64_t total)>;

// Of the job that was submitted last. They lie in `folder`, which is made where it is not there;
// all of them or, after an error, none. not_found: this machine has no dashboard.
Result<std::vector<report::PagePicture>> draw_dashboard_pictures(const std::string& run_file,
                                                                 const std::string& folder,
                                                                 const PictureProgress& progress);

}  // namespace tributary
