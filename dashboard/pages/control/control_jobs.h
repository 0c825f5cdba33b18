// The upper part of the control page: the table of a run's jobs, and the buttons that pause, resume
// or stop the chosen job. It emits requests and sends nothing itself. GUI thread only.
//
// It owns its table and buttons and keeps no pointer to the view. The buttons are enabled only for
// actions that the job's state allows; the coordinator decides in the end and may still refuse.
#pragma once

#include <QWidget>
#include <cstdint>

#include "core/service/operator_messages.h"
#include "dashboard/pages/control/control_jobs_model.h"
#include "dashboard/pages/control/control_request.h"
#include "dashboard/tables/table_view.h"

class QLineEdit;
class QPushButton;

namespace tributary::dashboard {

class ControlJobs : public QWidget {
  Q_OBJECT

 public:
  explicit ControlJobs(QWidget* parent = nullptr);

  // Updates the table. The view may change between calls.
  void show_run(const RunView& view);
  void show_none();
  // Enables the buttons while a coordinator accepts requests.
  void set_ready(bool ready);

  TableView& table() { return *table_; }
  ControlJobsModel& model() { return model_; }
  QLineEdit& reason() { return *reason_; }
  QPushButton& pause() { return *pause_; }
  QPushButton& resume() { return *resume_; }
  QPushButton& stop() { return *stop_; }

 signals:
  // The user wants to change the chosen job.
  void requested(const tributary::dashboard::ControlRequest& request);

 private:
  void request_change(JobChange change, const QString& verb, const QString& warning = {});
  const ControlJobRow* chosen() const;  // null: none
  void update_buttons();

  ControlJobsModel model_;
  TableView* table_;
  QLineEdit* reason_;
  QPushButton* pause_;
  QPushButton* resume_;
  QPushButton* stop_;
  bool ready_ = false;
};

}  // namespace tributary::dashboard
