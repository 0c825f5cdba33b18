// Where a job's file is chosen, checked and handed in.
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

  void set_ready(bool ready);
  // Files that the job's own file names are looked for elsewhere.
  void set_across_network(bool across_network);

  QLineEdit& file() { return *file_; }
  QPushButton& submit() { return *submit_; }
  QString verdict() const;  // on the file that is named

 signals:
  void requested(const tributary::dashboard::ControlRequest& request);

 private:
  void ask_for_file();
  void check();
  void want_submit();
  void update_button();

  QLineEdit* file_;
  QPushButton* choose_;
  QPushButton* submit_;
  QLabel* verdict_;
  QTimer check_timer_;
  std::optional<JobFile> checked_;
  bool ready_ = false;
  bool across_network_ = false;
};

}  // namespace tributary::dashboard
