#include "dashboard/pages/overview/jobs_panel.h"

#include <QGridLayout>
#include <QLabel>
#include <QProgressBar>
#include <QToolButton>
#include <algorithm>
#include <array>
#include <cmath>

#include "dashboard/pages/common/swatch.h"
#include "dashboard/pages/common/texts.h"
#include "dashboard/plot/data/quantity.h"

namespace tributary::dashboard {
namespace {

// In the order of JobsPanel::Column; the first one has the colour of the run.
constexpr std::array<const char*, JobsPanel::columns> kJobHeadings = {
    "", "Run", "Job", "State", "Rounds", "Agents", "Accuracy", "Loss", "Sent", "Saved"};
// Steps of the progress bar, independent of the number of rounds.
constexpr int kBarScale = 1000;
constexpr int kNameCharactersMax = 40;
constexpr int kBarWidthMin = 80;
constexpr int kBarWidthMax = 480;  // in a wide window the rest stays empty

QString number_or_dash(Unit unit, double value) {
  return std::isfinite(value) ? text_of(unit, value) : QString("–");
}

QString rounds_text(const JobFacts& facts) {
  const QString done = QString::number(facts.rounds_done);
  return facts.rounds_configured == 0 ? done
                                      : done + " of " + QString::number(facts.rounds_configured);
}

// The last value may be lower than the best one, so both are shown.
QString accuracy_text(const JobFacts& facts) {
  if (!std::isfinite(facts.accuracy_last)) return "–";
  return text_of(Unit::share, facts.accuracy_last) + ", best " +
         text_of(Unit::share, facts.accuracy_best);
}

QString saved_text(const JobFacts& facts) {
  if (!std::isfinite(facts.saved_share())) return "–";
  return text_of(Unit::bytes, facts.dense() - facts.bytes()) + " (" +
         text_of(Unit::share, facts.saved_share()) + ")";
}

QString elided(const QString& text) {
  return text.size() <= kNameCharactersMax ? text : text.left(kNameCharactersMax - 1) + "…";
}

}  // namespace

JobsPanel::JobsPanel(QWidget* parent) : QWidget(parent), grid_(new QGridLayout(this)) {
  grid_->setContentsMargins(0, 0, 0, 0);
  grid_->setHorizontalSpacing(14);
  grid_->setVerticalSpacing(2);
  for (int column = 0; column < columns; ++column) {
    auto* heading = new QLabel(kJobHeadings[static_cast<std::size_t>(column)]);
    QFont bold = heading->font();
    bold.setBold(true);
    heading->setFont(bold);
    grid_->addWidget(heading, 0, column);
    headings_.push_back(heading);
  }
  grid_->setColumnStretch(progress, 8);
  grid_->setColumnStretch(columns, 1);
  nothing_ = new QLabel(kNoJob);
  grid_->addWidget(nothing_, 1, 0, 1, columns);
  more_ = new QLabel;
  grid_->addWidget(more_, static_cast<int>(kLinesMax) + 2, 0, 1, columns);
}

void JobsPanel::add_row() {
  const int at = static_cast<int>(rows_.size()) + 2;
  const std::size_t index = rows_.size();
  Row row;
  for (int column = 0; column < columns; ++column) {
    auto* label = new QLabel;
    label->setTextFormat(Qt::PlainText);
    row.labels.push_back(label);
    if (column != job && column != progress) grid_->addWidget(label, at, column);
  }
  // The button and the bar show these two texts; the labels stay hidden and serve text_at().
  row.labels[job]->setParent(this);
  row.labels[progress]->setParent(this);
  row.button = new QToolButton;
  row.button->setAutoRaise(true);
  row.button->setCheckable(true);
  row.button->setToolTip("Show this job");
  grid_->addWidget(row.button, at, job);
  row.bar = new QProgressBar;
  row.bar->setRange(0, kBarScale);
  row.bar->setMinimumWidth(kBarWidthMin);
  row.bar->setMaximumWidth(kBarWidthMax);
  grid_->addWidget(row.bar, at, progress);
  row.labels[job]->hide();
  row.labels[progress]->hide();
  connect(row.button, &QToolButton::clicked, this, [this, index] {
    const JobLine& line = rows_[index].line;
    // A click toggles the button; its state must follow the selection instead.
    rows_[index].button->setChecked(line.shown);
    emit job_chosen(line.run_key, line.facts.job);
  });
  rows_.push_back(std::move(row));
}

void JobsPanel::fill(Row& row, const JobLine& line, ColourSlots& colours) {
  row.line = line;
  const JobFacts& facts = line.facts;
  const QColor ground = slot_colour(colours.slot_of(line.run_key), plot_colours(palette()).dark);
  row.labels[colour]->setPixmap(swatch(ground, devicePixelRatioF()));
  const auto text = [&](Column column, const QString& what) { row.labels[column]->setText(what); };
  text(run, elided(line.run_name));
  text(job, QString::fromStdString(facts.name));
  // Qt reads a single & as the mark of a keyboard shortcut.
  row.button->setText(elided(row.labels[job]->text()).replace('&', "&&"));
  row.button->setChecked(line.shown);
  text(state, QString::fromStdString(state_text(facts.state)));
  row.labels[state]->setToolTip(QString::fromStdString(facts.reason).toHtmlEscaped());
  text(progress, rounds_text(facts));
  const double share =
      facts.rounds_configured == 0
          ? 0
          : static_cast<double>(facts.rounds_done) / static_cast<double>(facts.rounds_configured);
  row.bar->setValue(static_cast<int>(std::clamp(share, 0.0, 1.0) * kBarScale));
  row.bar->setFormat(rounds_text(facts));
  text(agents, QString("%1 of %2 connected").arg(facts.agents_up).arg(facts.agents));
  text(accuracy, accuracy_text(facts));
  text(loss, number_or_dash(Unit::one, facts.loss_last));
  text(sent, text_of(Unit::bytes, facts.bytes()));
  text(saved, saved_text(facts));
}

// Rows are hidden and reused, never removed: the panel is filled at every refresh.
void JobsPanel::show_lines(const std::vector<JobLine>& lines, ColourSlots& colours) {
  const std::size_t count = std::min(lines.size(), kLinesMax);
  while (rows_.size() < count) add_row();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    Row& row = rows_[i];
    const bool used = i < count;
    for (int column = 0; column < columns; ++column) {
      const auto at = static_cast<std::size_t>(column);
      if (column != job && column != progress) row.labels[at]->setVisible(used);
    }
    row.button->setVisible(used);
    row.bar->setVisible(used);
    if (used) fill(row, lines[i], colours);
  }
  nothing_->setVisible(count == 0);
  for (QLabel* heading : headings_) heading->setVisible(count > 0);
  more_->setVisible(lines.size() > count);
  more_->setText(QString("and %1 older jobs").arg(lines.size() - count));
}

QString JobsPanel::text_at(std::size_t line, int column) const {
  return line < rows_.size() ? rows_[line].labels[static_cast<std::size_t>(column)]->text()
                             : QString();
}

}  // namespace tributary::dashboard
