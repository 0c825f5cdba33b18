#include "dashboard/window/run_status.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QToolButton>

#include "dashboard/pages/common/run_facts.h"
#include "dashboard/pages/common/swatch.h"

namespace tributary::dashboard {

// An error takes precedence over the state, because the state is then old.
QString status_text(const RunSession& run) {
  const JobInfo* const info = run.job_info();
  if (!run.trouble().ok()) return run.origin().across_network ? "not connected" : "cannot be read";
  if (!info) return run.caught_up() ? "no job yet" : "reading";
  const JobFacts facts = facts_of(run.view(), *info);
  QString text = QString::fromStdString(facts.name + ", " + state_text(facts.state)) +
                 QString(", round %1").arg(facts.rounds_done);
  if (facts.rounds_configured > 0) text += QString(" of %1").arg(facts.rounds_configured);
  return run.caught_up() ? text : text + ", reading";
}

RunStatus::RunStatus(QWidget* parent) : QWidget(parent), row_(new QHBoxLayout(this)) {
  row_->setContentsMargins(4, 0, 4, 0);
  row_->addStretch(1);
}

void RunStatus::show_runs(const std::vector<RunSession*>& runs, ColourSlots& colours) {
  runs_ = runs;
  // Entries are reused and hidden, never deleted, so that an index stays valid.
  while (entries_.size() < runs.size()) {
    const std::size_t index = entries_.size();
    Entry entry = {.colour = new QLabel, .button = new QToolButton};
    entry.button->setAutoRaise(true);
    entry.button->setPopupMode(QToolButton::InstantPopup);
    entry.button->setMenu(new QMenu(entry.button));
    connect(entry.button->menu(), &QMenu::aboutToShow, this, [this, index] {
      if (index < runs_.size()) fill_menu(entries_[index].button, runs_[index]);
    });
    row_->insertWidget(row_->count() - 1, entry.colour);
    row_->insertWidget(row_->count() - 1, entry.button);
    entries_.push_back(entry);
  }
  const bool dark = plot_colours(palette()).dark;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    const bool used = i < runs.size();
    entry.colour->setVisible(used);
    entry.button->setVisible(used);
    if (!used) continue;
    const RunSession& run = *runs[i];
    entry.colour->setPixmap(
        swatch(slot_colour(colours.slot_of(run.key()), dark), devicePixelRatioF()));
    // '&' would otherwise mark a key in the button's text.
    entry.button->setText(QString(run.name() + ": " + status_text(run)).replace('&', "&&"));
    entry.button->setToolTip(run.origin().place.toHtmlEscaped());
  }
}

QString RunStatus::text(std::size_t run) const {
  return run < runs_.size() ? entries_[run].button->text() : QString();
}

void RunStatus::fill_menu(QToolButton* button, RunSession* run) {
  QMenu& menu = *button->menu();
  menu.clear();
  for (const JobFacts& facts : facts_of_jobs(run->view())) {
    const QString name = QString::fromStdString(facts.name + ", " + state_text(facts.state));
    QAction* const action = menu.addAction(QString(name).replace('&', "&&"));
    action->setCheckable(true);
    action->setChecked(facts.job == run->job());
    connect(action, &QAction::triggered, run, [run, job = facts.job] { run->choose_job(job); });
  }
  menu.addSeparator();
  connect(menu.addAction("Close " + QString(run->name()).replace('&', "&&")), &QAction::triggered,
          this, [this, run] { emit close_requested(run); });
}

}  // namespace tributary::dashboard
