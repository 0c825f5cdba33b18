// The form that selects a job's file, checks it while the user types, and requests its submission.
// It sends nothing itself. GUI thread only.
//
// The file is read and checked on the GUI thread a moment after the last key, with the parser of
// the coordinator, so that most errors are found before a request is sent. The coordinator reads
// the text in the request, not the file.
#pragma once

#include <QTimer>
#include <QWidget>
#include <optional>

#include "dashboard/pages/control/control_request.h"
#include "dashboard/pages/control/job_file.h"

class QLabel;
class QLineEdit;
class QPushButton;

namespace tributary::dashboard {

class SubmitForm : public QWidget {
  Q_OBJECT

 public:
  explicit SubmitForm(QWidget* parent = nullptr);

  // Enables the button while a coordinator accepts requests.
  void set_ready(bool ready);
  // Sets whether the coordinator runs on another machine. Files that the job's file names are then
  // looked for on that machine.
  void set_across_network(bool across_network);

  QLineEdit& file() { return *file_; }
  QPushButton& submit() { return *submit_; }
  QString verdict() const;  // the result of checking the file

 signals:
  // The user wants to submit the checked file.
  void requested(const tributary::dashboard::ControlRequest& request);

 private:
  void ask_for_file();
  void check();
  void request_submit();
  void update_button();

  QLineEdit* file_;
  QPushButton* choose_;
  QPushButton* submit_;
  QLabel* verdict_;
  QTimer check_timer_;
  // The valid file; empty while the input is not valid.
  std::optional<JobFile> checked_;
  bool ready_ = false;
  bool across_network_ = false;
};

}  // namespace tributary::dashboard
