#include "dashboard/pages/control/control_page.h"

#include <QComboBox>
#include <QGroupBox>
#include <QLabel>
#include <QPlainTextEdit>
#include <QSignalBlocker>
#include <QTime>
#include <QVBoxLayout>
#include <algorithm>

#include "dashboard/tables/cells/shown_text.h"

namespace tributary::dashboard {
namespace {

constexpr int kAnswersMax = 200;
constexpr int kAnswerLines = 5;
constexpr const char* kNoAnswer = "The coordinator's answers appear here.";

QGroupBox* group_of(const QString& title, QWidget* what) {
  auto* const group = new QGroupBox(title);
  auto* const layout = new QVBoxLayout(group);
  layout->addWidget(what);
  return group;
}

}  // namespace

ControlPage::ControlPage(PageContext& context, QWidget* parent)
    : Page(context, parent), clock_([this] { update_now(); }) {
  run_box_ = new QComboBox(this);
  run_box_->setAccessibleName("Run");
  run_box_->hide();
  presence_ = new QLabel(this);
  presence_->setTextFormat(Qt::PlainText);
  presence_->setWordWrap(true);
  presence_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  presence_->setAccessibleName("Coordinator");
  jobs_ = new ControlJobs(this);
  submit_ = new SubmitForm(this);
  access_ = new AccessForm(this);
  confirm_ = new ConfirmBar(this);
  answers_ = new QPlainTextEdit(this);
  answers_->setReadOnly(true);
  answers_->setTabChangesFocus(true);
  answers_->setMaximumBlockCount(kAnswersMax);
  answers_->setAccessibleName("Answers");
  answers_->setPlaceholderText(kNoAnswer);
  lay_out();
  setFocusProxy(jobs_);

  connect(run_box_, &QComboBox::currentIndexChanged, this, &ControlPage::choose_run);
  connect(jobs_, &ControlJobs::requested, this, &ControlPage::take_request);
  connect(submit_, &SubmitForm::requested, this, &ControlPage::take_request);
  connect(access_, &AccessForm::requested, this, &ControlPage::take_request);
  connect(confirm_, &ConfirmBar::confirmed, this, [this](const ControlRequest& request) {
    post_.ask(request);
    jobs_->setFocus();
  });
  connect(&post_, &CoordinatorPost::changed, this, &ControlPage::update_post);
  connect(&post_, &CoordinatorPost::answered, this, &ControlPage::show_answer);
  update_post();
}

void ControlPage::lay_out() {
  answers_->setMinimumHeight(answers_->fontMetrics().lineSpacing() * kAnswerLines + 12);
  auto* const head = new QHBoxLayout;
  head->addWidget(run_box_);
  head->addWidget(presence_, 1);
  auto* const column = new QVBoxLayout(this);
  column->addLayout(head);
  column->addWidget(group_of("Jobs", jobs_), 3);
  column->addWidget(group_of("Submit a job", submit_));
  column->addWidget(group_of("Allowed agents", access_));
  column->addWidget(confirm_);
  column->addWidget(group_of("Answers", answers_), 2);
}

// The chosen run stays chosen as long as it is open.
void ControlPage::set_runs(const std::vector<RunSession*>& runs) {
  runs_ = runs;
  const bool stays = std::ranges::find(runs, run_) != runs.end();
  RunSession* const first = runs.empty() ? nullptr : runs.front();
  RunSession* const now = stays ? run_ : first;
  {
    // Filling the box must not choose its first run.
    const QSignalBlocker quiet(run_box_);
    run_box_->clear();
    for (const RunSession* run : runs) run_box_->addItem(run->name());
    const auto at = std::ranges::find(runs, now);
    run_box_->setCurrentIndex(at == runs.end() ? -1 : static_cast<int>(at - runs.begin()));
  }
  run_box_->setVisible(runs.size() > 1);
  if (now != run_) show_run(now);
  refresh();
}

void ControlPage::choose_run(int index) {
  if (index >= 0) show_run(runs_[static_cast<std::size_t>(index)]);
}

// A question that waits for confirmation belongs to the previous run and is cancelled.
void ControlPage::show_run(RunSession* run) {
  run_ = run;
  seen_ = {};
  confirm_->give_up();
  jobs_->show_none();
  post_.set_run(run);
  submit_->set_across_network(run && run->origin().across_network);
  refresh();
}

void ControlPage::refresh() {
  if (!run_) return;
  const RunView::Revisions& now = run_->view().revisions();
  if (seen_.is_new(run_->job(), {now.jobs, now.rounds, now.agents})) clock_.touch(isVisible());
}

void ControlPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  post_.set_awake(true);
  clock_.run_now();
}

void ControlPage::hideEvent(QHideEvent* event) {
  post_.set_awake(false);
  Page::hideEvent(event);
}

void ControlPage::update_now() {
  if (!run_) return;
  jobs_->show_run(run_->view());
  update_post();
}

void ControlPage::update_post() {
  const bool ready = post_.ready();
  presence_->setText(post_.presence());
  jobs_->set_ready(ready);
  submit_->set_ready(ready);
  access_->set_ready(ready);
  // A question that cannot be answered any more is cancelled.
  if (!ready) confirm_->give_up();
  // Identifiers come from the coordinator's list and from the run, which also knows former agents.
  QStringList agents = post_.agents();
  if (run_) {
    for (const AgentRow& row : run_->view().agents()) {
      agents.push_back(whole_text(row.info.agent_id));
    }
  }
  agents.removeDuplicates();
  agents.sort();
  access_->set_agents(agents);
}

// A request with a warning cannot be undone, so the user confirms it first.
void ControlPage::take_request(const ControlRequest& request) {
  if (request.warning.isEmpty()) {
    post_.ask(request);
  } else {
    confirm_->ask(request);
  }
}

void ControlPage::show_answer(const QString& line, bool error) {
  answers_->appendPlainText(QTime::currentTime().toString("HH:mm:ss") + (error ? "  ⚠ " : "  ✓ ") +
                            line);
}

QString ControlPage::presence() const { return presence_->text(); }

QString ControlPage::answers() const { return answers_->toPlainText(); }

}  // namespace tributary::dashboard
