// Lists the jobs of all open runs, one per row: state, progress, agents, metrics and traffic. The
// name of a job is a button that selects the job. GUI thread only.
//
// It owns its widgets and copies the lines. Rows are reused, so an update costs no layout unless
// the number of jobs changes.
#pragma once

#include <QString>
#include <QWidget>
#include <cstdint>
#include <vector>

#include "dashboard/pages/common/run_facts.h"
#include "dashboard/plot/data/palette.h"

class QGridLayout;
class QLabel;
class QProgressBar;
class QToolButton;

namespace tributary::dashboard {

// One row of the list.
struct JobLine {
  QString run_key = {};
  QString run_name = {};
  JobFacts facts = {};
  bool shown = true;  // whether the pages show this job of its run
};

class JobsPanel : public QWidget {
  Q_OBJECT

 public:
  static constexpr std::size_t kLinesMax = 6;  // further jobs appear as a count

  explicit JobsPanel(QWidget* parent = nullptr);

  // Shows the first kLinesMax lines and the number of the others.
  void show_lines(const std::vector<JobLine>& lines, ColourSlots& colours);
  // Returns the text of a cell, for tests. Line 0 is the first job.
  QString text_at(std::size_t line, int column) const;

  enum Column { colour, run, job, state, progress, agents, accuracy, loss, sent, saved, columns };

 signals:
  void job_chosen(const QString& run_key, std::uint64_t job);

 private:
  struct Row {
    std::vector<QLabel*> labels = {};
    QToolButton* button = nullptr;
    QProgressBar* bar = nullptr;
    JobLine line = {};
  };

  void add_row();
  void fill(Row& row, const JobLine& line, ColourSlots& colours);

  QGridLayout* grid_ = nullptr;
  QLabel* more_ = nullptr;
  std::vector<QLabel*> headings_;  // hidden without a job
  QLabel* nothing_ = nullptr;
  std::vector<Row> rows_;
};

}  // namespace tributary::dashboard
