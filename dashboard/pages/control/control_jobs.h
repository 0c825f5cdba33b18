// The upper part of the control page: the table of a run's jobs, and the buttons that pause, resume
// or stop the chosen job.
//
// A click emits requested(). The control page asks for confirmation of a stop, sends the request
// and lists the coordinator's answer or the error. This part learns nothing of them: the table
// changes when the journal reports the job's new state. The buttons are enabled only for actions
// that the job's state allows; the coordinator decides in the end and may still refuse.
//
// It owns its table, buttons and text field, and keeps no pointer to the view. GUI thread only.
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

  // Updates the table. The view may change between calls. If no job is chosen, chooses the newest.
  void show_run(const RunView& view);
  // Empties the table, because no run is open.
  void show_none();
  // Enables the buttons while a coordinator accepts requests.
  void set_ready(bool ready);

  TableView& table() { return *table_; }
  ControlJobsModel& model() { return model_; }
  // The operator's reason for the next request, sent with it and shown with the job; may be empty.
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
