// A fixture with a run that is written by a coordinator's journal and opened like the dashboard
// opens it.
#pragma once

#include <memory>
#include <string>

#include "core/run/run_testing.h"
#include "core/store/testing/folder_testing.h"
#include "dashboard/pages/common/page.h"
#include "dashboard/session/session_testing.h"

namespace tributary::dashboard {

class PageOfRunTest : public testing::Test {
 protected:
  // The pointer is moved away, because a pointer over a chart would stop its updates.
  PageOfRunTest() { QCursor::setPos(9999, 9999); }

  std::string run_db() const { return folder_ / "run.db"; }
  void open_run() {
    run_ = std::make_unique<RunSession>(RunSessionOptions{
        .origin = origin_of_file(run_db()), .look_every = std::chrono::milliseconds(5)});
  }
  void show(Page& page) {
    page.setPalette(palette_for_tests(false));
    page.resize(1280, 800);
    if (run_) page.set_runs({run_.get()});
    if (run_) QObject::connect(run_.get(), &RunSession::changed, &page, &Page::refresh);
    page.show();
    page.refresh();
    if (run_) settle(page);
  }
  void settle(Page& page) {
    ASSERT_TRUE(happens([&] { return run_->caught_up() && page.settled(); }));
    context_.group().refresh_now();
  }
  static void click(PlotView& view, double x, double y_share = 0.5) {
    const QRect rect = view.axes().data_rect();
    const QPoint at(static_cast<int>(view.axes().pixel_of(x, 0).x()),
                    rect.top() + static_cast<int>(rect.height() * y_share));
    QTest::mouseClick(view.childAt(rect.center()), Qt::LeftButton, {}, at);
  }

  store_testing::Folder folder_;  // must outlive the run
  std::unique_ptr<RunSession> run_;
  PageContext context_;
};

}  // namespace tributary::dashboard
