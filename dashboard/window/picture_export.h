// Writes a page as a picture to a file. No display is needed. GUI thread only.
//
// Used by --export-png, in tests and by `tributary report --dashboard`. Nothing is left behind
// after an error.
#pragma once

#include <QSize>
#include <QString>
#include <chrono>

#include "core/base/status.h"
#include "dashboard/pages/common/page.h"
#include "dashboard/window/open_runs.h"

namespace tributary::dashboard {

struct PictureRequest {
  QString file = {};
  QSize size = {1280, 800};
  // Limit for the page to be complete.
  std::chrono::milliseconds wait_max = std::chrono::seconds(60);
};

// Waits until the page is complete and writes the picture. Processes the application's events while
// it waits. Fails with the problem of a run, with deadline_exceeded if the page is not complete in
// time, or with io_error for the picture's file. A run that cannot be read yet (unavailable) is
// retried until the limit.
Status export_page(const PictureRequest& request, const OpenRuns& runs, Page& page,
                   PageContext& context);

}  // namespace tributary::dashboard
