// The page that controls a coordinator: submit, pause, resume and stop jobs; allow and revoke
// agents.
//
// The page changes nothing itself. It sends requests to the coordinator and lists the answers; the
// effects appear in the run's journal and return from there. GUI thread only.
#pragma once

#include <vector>

#include "dashboard/pages/common/page.h"
#include "dashboard/pages/common/table_clock.h"
#include "dashboard/pages/control/access_form.h"
#include "dashboard/pages/control/confirm_bar.h"
#include "dashboard/pages/control/control_jobs.h"
#include "dashboard/pages/control/coordinator_post.h"
#include "dashboard/pages/control/submit_form.h"

class QComboBox;
class QLabel;
class QPlainTextEdit;

namespace tributary::dashboard {

class ControlPage : public Page {
  Q_OBJECT

 public:
  explicit ControlPage(PageContext& context, QWidget* parent = nullptr);

  QString name() const override { return "control"; }
  QString title() const override { return "Control"; }
  void set_runs(const std::vector<RunSession*>& runs) override;
  void refresh() override;
  bool settled() const override { return !clock_.waits() && post_.known(); }

  // Access for tests.
  CoordinatorPost& post() { return post_; }
  ControlJobs& jobs() { return *jobs_; }
  SubmitForm& submit_form() { return *submit_; }
  AccessForm& access_form() { return *access_; }
  ConfirmBar& confirm_bar() { return *confirm_; }
  QComboBox& run_box() { return *run_box_; }
  QString presence() const;  // whether the coordinator answers, as a sentence
  QString answers() const;   // all answers so far, the newest last

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  void lay_out();
  void choose_run(int index);
  void show_run(RunSession* run);
  void update_now();
  void update_post();
  // Sends the request, or first asks for confirmation if it cannot be undone.
  void take_request(const ControlRequest& request);
  void show_answer(const QString& line, bool error);

  CoordinatorPost post_;
  QComboBox* run_box_;
  QLabel* presence_;
  ControlJobs* jobs_;
  SubmitForm* submit_;
  AccessForm* access_;
  ConfirmBar* confirm_;
  QPlainTextEdit* answers_;
  TableClock clock_;
  std::vector<RunSession*> runs_;
  RunSession* run_ = nullptr;
  ShownRevisions seen_;
};

}  // namespace tributary::dashboard
