#include "dashboard/pages/agents/agents_page.h"

#include <QScopedValueRollback>
#include <QSplitter>
#include <QVBoxLayout>
#include <cmath>

#include "dashboard/pages/common/texts.h"

namespace tributary::dashboard {
namespace {

const QList<int> kHalves = {30, 70};  // shares of the height in %: table, chosen agent
constexpr const char* kNoAgents =
    "No agent has connected yet.\n\n"
    "On the coordinator's machine:  tributary keys join garage-01 ...  writes garage-01.join\n"
    "Copy that file to the device and run:  tributary-agent --join garage-01.join ...";

}  // namespace

AgentsPage::AgentsPage(PageContext& context, QWidget* parent)
    : RunPage(context, parent), clock_([this] { update_now(); }) {
  auto* const upper = new QWidget(this);
  table_ = new TableView(model_, upper);
  filter_ = new FilterBar(*table_, *this);
  panel_ = new AgentPanel(context.group(), this);
  auto* const rows = new QVBoxLayout(upper);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->addWidget(filter_);
  rows->addWidget(table_, 1);
  auto* const halves = new QSplitter(Qt::Vertical, this);
  halves->setChildrenCollapsible(false);
  halves->addWidget(upper);
  halves->addWidget(panel_);
  halves->setSizes(kHalves);
  halves->setStretchFactor(0, kHalves[0]);
  halves->setStretchFactor(1, kHalves[1]);
  auto* const layout = new QVBoxLayout(this);
  layout->addWidget(halves);
  table_->setAccessibleName("Agents");
  table_->set_empty_text(kNoRunOpen);
  table_->sortByColumn(model_.column_of("agent"), Qt::AscendingOrder);
  setFocusProxy(table_);
  panel_->hide();

  connect(table_, &TableView::row_chosen, this, [this](int row) {
    if (updating_) return;
    chosen_ = model_.agent_id(row);
    draw();
  });
  connect(panel_, &AgentPanel::x_clicked, this, [this](double x) {
    // A click selects a round only on an axis of rounds.
    if (!this->context().over_time() && x >= 0.5) {
      emit round_requested(static_cast<std::uint64_t>(std::llround(x)));
    }
  });
  connect(&context, &PageContext::axis_changed, this, [this] { draw(); });
}

void AgentsPage::take_run() {
  view_ = nullptr;
  seen_ = {};
  chosen_.clear();
  model_.clear();
  panel_->show_none();
  panel_->hide();
  table_->set_empty_text(kNoRunOpen);
}

// The clock limits redrawing, and a hidden page waits until it is shown.
void AgentsPage::refresh() {
  if (!run()) return;
  const RunView::Revisions& now = run()->view().revisions();
  if (seen_.is_new(run()->job(),
                   {now.jobs, now.rounds, now.metrics, now.agents, now.reports, now.links})) {
    clock_.touch(isVisible());
  }
}

void AgentsPage::showEvent(QShowEvent* event) {
  RunPage::showEvent(event);
  clock_.run_now();
}

void AgentsPage::update_now() {
  if (run()) show_run(run()->view(), run()->job());
}

void AgentsPage::show_run(const RunView& view, std::uint64_t job) {
  view_ = &view;
  job_ = job;
  draw();
}

void AgentsPage::draw() {
  if (!view_) return;
  // Selections that the update itself causes must not count as choices by the user.
  const QScopedValueRollback<bool> updating(updating_, true);
  table_->set_empty_text(kNoAgents);
  model_.update(*view_, job_);
  show_readings_once();
  panel_->setVisible(model_.rowCount() > 0);
  follow_choice();
}

// Most devices report no temperature and no power, so both columns are hidden until the first
// reading. They are shown only once, so that the user can hide them again.
void AgentsPage::show_readings_once() {
  if (readings_shown_ || !model_.has_readings()) return;
  readings_shown_ = true;
  for (const char* column : {"temperature", "power"}) table_->show_column(column, true);
}

// Until the user chooses an agent, the first row of the table is the chosen one.
void AgentsPage::follow_choice() {
  if (chosen_.empty() && table_->proxy().rowCount() > 0) {
    const QModelIndex first = table_->proxy().index(0, 0);
    chosen_ = model_.agent_id(table_->proxy().mapToSource(first).row());
  }
  const int row = model_.row_of(chosen_);
  if (row < 0) {
    panel_->show_none();
    return;
  }
  if (table_->current_row() != row) table_->select_row(row);
  panel_->show_agent(*view_, {.job = job_, .agent_id = chosen_, .over_time = context().over_time()},
                     context().x_axis());
}

// An agent that has not appeared yet is selected as soon as it does.
void AgentsPage::show_agent(const QString& agent_id) {
  chosen_ = agent_id.toStdString();
  draw();
}

}  // namespace tributary::dashboard
