// A page of one run: of those that are open, the first.
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
  RunSession* run() const { return run_; }  // null: none
  // run() is another one now: what is known of the one before is forgotten.
  virtual void take_run() = 0;

 private:
  QPointer<RunSession> run_;
};

}  // namespace tributary::dashboard
