// The base of pages that show one run: the first of the open runs.
//
// A derived page implements take_run() and refresh(). The run may be closed at any time in between;
// run() is then null. GUI thread only.
#pragma once

#include <QPointer>
#include <vector>

#include "dashboard/pages/common/page.h"

namespace tributary::dashboard {

class RunPage : public Page {
  Q_OBJECT

 public:
  using Page::Page;

  void set_runs(const std::vector<RunSession*>& runs) final;

 protected:
  RunSession* run() const { return run_; }  // null: no run is open
  // Called after run() has changed. The page must drop everything it knows about the previous run.
  virtual void take_run() = 0;

 private:
  QPointer<RunSession> run_;
};

}  // namespace tributary::dashboard
