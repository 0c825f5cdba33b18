// A page as a picture in a file, also where there is no display.
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
  // For all that it is to show to be there.
  std::chrono::milliseconds wait_max = std::chrono::seconds(60);
};

// Runs the application's events while it waits. Errors: what is wrong with a run's file, unless it
// is about to become one; deadline_exceeded; and io_error for the picture's file.
Status export_page(const PictureRequest& request, const OpenRuns& runs, Page& page,
                   PageContext& context);

}  // namespace tributary::dashboard
