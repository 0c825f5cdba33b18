#include "dashboard/pages/common/run_page.h"

namespace tributary::dashboard {

void RunPage::set_runs(const std::vector<RunSession*>& runs) {
  RunSession* const first = runs.empty() ? nullptr : runs.front();
  if (first == run_) return;
  // Signals of the previous run must not arrive any more. QPointer is null if it was destroyed.
  if (run_) run_->disconnect(this);
  run_ = first;
  take_run();
  refresh();
}

}  // namespace tributary::dashboard
