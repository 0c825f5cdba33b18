// The jobs of the open runs, a line each: state, progress, agents, what they have learned and what
// was sent for it. A job's name is a button that chooses it.
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

struct JobLine {
  QString run_key = {};
  QString run_name = {};
  JobFacts facts = {};
  bool shown = true;  // the one that the pages show of its run
};

class JobsPanel : public QWidget {
  Q_OBJECT

 public:
  static constexpr std::size_t kLinesMax = 6;

  explicit JobsPanel(QWidget* parent = nullptr);

  // Beyond kLinesMax the rest is told as a number.
  void show_lines(const std::vector<JobLine>& lines, ColourSlots& colours);
  // The text of a cell, for those who look: row 0 is the first job's.
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
  QLabel* nothing_ = nullptr;
  std::vector<Row> rows_;
};

}  // namespace tributary::dashboard
