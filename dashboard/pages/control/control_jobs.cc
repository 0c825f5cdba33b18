#include "dashboard/pages/control/control_jobs.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include "core/service/operator_messages.h"
#include "dashboard/tables/cells/shown_text.h"

namespace tributary::dashboard {
namespace {

constexpr int kReasonCharactersMax = 200;
constexpr const char* kNoControlRun = "No run is open.";
constexpr const char* kNoControlJob = "No job yet. Submit one below.";
constexpr const char* kStopWarning =
    "Stop job %1? A stopped job cannot be resumed. Its model stays in the journal.";

}  // namespace

ControlJobs::ControlJobs(QWidget* parent) : QWidget(parent) {
  table_ = new TableView(model_, this);
  table_->setAccessibleName("Jobs");
  table_->set_empty_text(kNoControlRun);
  table_->sortByColumn(model_.column_of("number"), Qt::DescendingOrder);
  table_->horizontalHeader()->setStretchLastSection(true);
  reason_ = new QLineEdit(this);
  reason_->setMaxLength(kReasonCharactersMax);
  reason_->setPlaceholderText("optional; shown with the job");
  auto* const reason_label = new QLabel("Reas&on");
  reason_label->setBuddy(reason_);
  pause_ = new QPushButton("Pa&use");
  pause_->setToolTip("Finishes the current round and keeps model and residuals");
  resume_ = new QPushButton("R&esume");
  resume_->setToolTip("Continues with the next round");
  stop_ = new QPushButton("S&top…");
  stop_->setToolTip("Ends the job; its model stays in the journal");
  auto* const row = new QHBoxLayout;
  row->addWidget(reason_label);
  row->addWidget(reason_, 1);
  for (QPushButton* button : {pause_, resume_, stop_}) row->addWidget(button);
  auto* const column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(table_, 1);
  column->addLayout(row);
  setFocusProxy(table_);

  connect(table_, &TableView::row_chosen, this, &ControlJobs::update_buttons);
  // A button depends on the job's state, which changes without a new selection.
  connect(&model_, &QAbstractItemModel::dataChanged, this, &ControlJobs::update_buttons);
  connect(&model_, &QAbstractItemModel::modelReset, this, &ControlJobs::update_buttons);
  connect(pause_, &QPushButton::clicked, this,
          [this] { request_change(JobChange::pause, "Pause"); });
  connect(resume_, &QPushButton::clicked, this,
          [this] { request_change(JobChange::resume, "Resume"); });
  connect(stop_, &QPushButton::clicked, this,
          [this] { request_change(JobChange::stop, "Stop", kStopWarning); });
  update_buttons();
}

void ControlJobs::show_run(const RunView& view) {
  table_->set_empty_text(kNoControlJob);
  model_.update(view);
  // Until the user chooses a job, the newest one is chosen.
  if (table_->current_row() < 0 && model_.rowCount() > 0) table_->select_row(model_.rowCount() - 1);
  update_buttons();
}

void ControlJobs::show_none() {
  table_->set_empty_text(kNoControlRun);
  model_.clear();
  update_buttons();
}

void ControlJobs::set_ready(bool ready) {
  ready_ = ready;
  update_buttons();
}

const ControlJobRow* ControlJobs::chosen() const {
  const int row = table_->current_row();
  return row < 0 || row >= model_.rowCount() ? nullptr : &model_.row_at(row);
}

// A button is enabled only if the coordinator accepts commands and the job's state allows the
// change.
void ControlJobs::update_buttons() {
  const ControlJobRow* const job = chosen();
  pause_->setEnabled(ready_ && job && may_pause(job->state));
  resume_->setEnabled(ready_ && job && may_resume(job->state));
  stop_->setEnabled(ready_ && job && may_stop(job->state));
}

// Requests name the job by number, because several jobs may have had the same name.
void ControlJobs::request_change(JobChange change, const QString& verb, const QString& warning) {
  const ControlJobRow* const job = chosen();
  if (!job) return;
  const QString name = shown_text(job->name);
  emit requested(
      {.what = verb.toLower() + " " + name,
       .question = change_question(change, std::to_string(job->job), reason_->text().toStdString()),
       .warning = warning.isEmpty() ? QString() : warning.arg(name),
       .verb = verb});
}

}  // namespace tributary::dashboard
