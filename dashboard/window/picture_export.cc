#include "dashboard/window/picture_export.h"

#include <QCoreApplication>
#include <QDeadlineTimer>
#include <QEventLoop>
#include <QLayout>
#include <QPixmap>
#include <QThread>

#include "dashboard/plot/files/file_export.h"

namespace tributary::dashboard {
namespace {

// Answers to requests of the page arrive later, so it must look settled several times in a row.
constexpr int kSettledLooks = 5;
constexpr int kLookEveryMs = 20;

Status trouble_of(const OpenRuns& runs) {
  for (const RunSession* run : runs.runs()) {
    const Status& trouble = run->trouble();
    // An unavailable run is retried until the limit; other problems do not change by waiting.
    if (!trouble.ok() && trouble.code() != StatusCode::unavailable) return trouble;
  }
  return {};
}

Status not_settled(const PictureRequest& request, const OpenRuns& runs) {
  for (const RunSession* run : runs.runs()) {
    if (!run->trouble().ok()) return run->trouble();
  }
  return {
      StatusCode::deadline_exceeded,
      {.what = "picture '" + request.file.toStdString() + "'",
       .expected =
           "a complete page within " + std::to_string(request.wait_max.count() / 1000) + " s",
       .got = runs.caught_up() ? "a page that is still loading" : "a run that is still being read",
       .remedy = "allow more time with --wait-s"}};
}

Status wait_until_settled(const PictureRequest& request, const OpenRuns& runs, Page& page,
                          PageContext& context) {
  const QDeadlineTimer end(request.wait_max);
  for (int looks = 0; looks < kSettledLooks;) {
    if (end.hasExpired()) return not_settled(request, runs);
    QCoreApplication::processEvents(QEventLoop::AllEvents, kLookEveryMs);
    TRIBUTARY_TRY(trouble_of(runs));
    // All agents are known before the first curve is drawn, so that every page of a run has the
    // same colours.
    if (runs.caught_up()) {
      context.give_colours(runs.runs());
      page.refresh();
    }
    looks = runs.caught_up() && page.settled() ? looks + 1 : 0;
    QThread::msleep(kLookEveryMs);
  }
  return {};
}

}  // namespace

Status export_page(const PictureRequest& request, const OpenRuns& runs, Page& page,
                   PageContext& context) {
  // The page is laid out and drawn as if it were visible, but never appears on a display.
  page.setAttribute(Qt::WA_DontShowOnScreen);
  // The picture has the requested size, even if the page's minimum size is larger.
  if (page.layout()) page.layout()->setSizeConstraint(QLayout::SetNoConstraint);
  page.resize(request.size);
  page.show();
  // A picture has no live display.
  context.group().x_axis().set_following(false);
  TRIBUTARY_TRY(wait_until_settled(request, runs, page, context));
  context.group().refresh_now();
  QCoreApplication::processEvents();
  return write_png(page.grab().toImage(), request.file);
}

}  // namespace tributary::dashboard
