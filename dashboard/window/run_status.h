// The status bar of the window: for each run its colour, its name, its state and the selected job.
// GUI thread only.
//
// It owns its widgets and keeps the pointers only until the next call of show_runs().
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

// Returns the state of a run in a few words.
QString status_text(const RunSession& run);

class RunStatus : public QWidget {
  Q_OBJECT

 public:
  explicit RunStatus(QWidget* parent = nullptr);

  void show_runs(const std::vector<RunSession*>& runs, ColourSlots& colours);
  // The text of an entry, for tests.
  QString text(std::size_t run) const;

 signals:
  void close_requested(const RunSession* run);

 private:
  struct Entry {
    QLabel* colour = nullptr;
    QToolButton* button = nullptr;  // its menu lists the jobs and closes the run
  };

  void fill_menu(QToolButton* button, RunSession* run);

  QHBoxLayout* row_ = nullptr;
  std::vector<Entry> entries_;
  std::vector<RunSession*> runs_;
};

}  // namespace tributary::dashboard
