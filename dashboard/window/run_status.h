// The line at the foot of the window: each run with its colour, its name and how it is, and which
// of its jobs is shown.
#pragma once

#include <QString>
#include <QWidget>
#include <vector>

#include "dashboard/plot/data/palette.h"
#include "dashboard/session/run_session.h"

class QHBoxLayout;
class QLabel;
class QToolButton;

namespace tributary::dashboard {

QString status_text(const RunSession& run);

class RunStatus : public QWidget {
  Q_OBJECT

 public:
  explicit RunStatus(QWidget* parent = nullptr);

  void show_runs(const std::vector<RunSession*>& runs, ColourSlots& colours);
  QString text(std::size_t run) const;

 signals:
  void close_wanted(const RunSession* run);

 private:
  struct Entry {
    QLabel* colour = nullptr;
    QToolButton* button = nullptr;  // with the run's jobs, and a way to close it
  };

  void fill_menu(QToolButton* button, RunSession* run);

  QHBoxLayout* row_ = nullptr;
  std::vector<Entry> entries_;
  std::vector<RunSession*> runs_;
};

}  // namespace tributary::dashboard
