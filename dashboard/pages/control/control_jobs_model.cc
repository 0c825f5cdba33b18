#include "dashboard/pages/control/control_jobs_model.h"

#include <algorithm>
#include <utility>

namespace tributary::dashboard {
namespace {

enum ControlJobColumn : int {
  kControlJobNumber,
  kControlJobName,
  kControlJobState,
  kControlJobRounds,
  kControlJobAgents,
  kControlJobReason,
};

std::vector<TableColumn> control_job_columns() {
  return {
      {"number", "No.", CellKind::number, Unit::count, "Order of submission", true},
      {"job", "Job", CellKind::text, Unit::one, "", true},
      {"state", "State", CellKind::rank, Unit::one, "", true},
      {"rounds", "Rounds", CellKind::number, Unit::count,
       "Committed rounds, of the configured number", true},
      {"agents", "Agents", CellKind::number, Unit::count, "Connected agents of the job", true},
      {"reason", "Reason", CellKind::text, Unit::one, "Reason given for the job's state", true},
  };
}

ControlJobRow row_of_facts(std::uint64_t place, JobFacts&& facts) {
  return {.place = place,
          .job = facts.job,
          .name = std::move(facts.name),
          .state = facts.state,
          .state_name = state_text(facts.state),
          .reason = std::move(facts.reason),
          .rounds_done = facts.rounds_done,
          .rounds_configured = facts.rounds_configured,
          .agents_up = facts.agents_up};
}

}  // namespace

// The coordinator checks again; these only enable the buttons.
bool may_pause(wire::JobState state) { return state == wire::JobState::running; }
bool may_resume(wire::JobState state) { return state == wire::JobState::paused; }
bool may_stop(wire::JobState state) { return may_pause(state) || may_resume(state); }

ControlJobsModel::ControlJobsModel(QObject* parent) : RowsModel(control_job_columns(), parent) {}

// The order of submission puts a new job at the end, so that the selection is not moved.
void ControlJobsModel::update(const RunView& view) {
  std::vector<ControlJobRow> now;
  for (const JobInfo& job : view.jobs())
    now.push_back(row_of_facts(now.size() + 1, facts_of(view, job)));
  show_rows(std::move(now));
}

int ControlJobsModel::row_of(std::uint64_t job) const {
  const auto found = std::ranges::find(rows(), job, &ControlJobRow::job);
  return found == rows().end() ? -1 : static_cast<int>(found - rows().begin());
}

bool ControlJobsModel::same_item(const ControlJobRow& a, const ControlJobRow& b) const {
  return a.job == b.job;
}

bool ControlJobsModel::same_values(const ControlJobRow& a, const ControlJobRow& b) const {
  return a.name == b.name && a.state == b.state && a.reason == b.reason &&
         a.rounds_done == b.rounds_done && a.rounds_configured == b.rounds_configured &&
         a.agents_up == b.agents_up;
}

double ControlJobsModel::number(int row, int column) const {
  const ControlJobRow& job = row_at(row);
  switch (column) {
    case kControlJobNumber:
      return static_cast<double>(job.place);
    case kControlJobState:
      return static_cast<double>(job.state);
    case kControlJobRounds:
      return static_cast<double>(job.rounds_done);
    case kControlJobAgents:
      return static_cast<double>(job.agents_up);
    default:
      return kUnknown;
  }
}

std::string_view ControlJobsModel::words(int row, int column) const {
  const ControlJobRow& job = row_at(row);
  switch (column) {
    case kControlJobName:
      return job.name;
    case kControlJobState:
      return job.state_name;
    case kControlJobReason:
      return job.reason;
    default:
      return {};
  }
}

// Sorting uses the committed rounds; only the text has both numbers.
QString ControlJobsModel::number_text(int row, int column) const {
  const ControlJobRow& job = row_at(row);
  if (column != kControlJobRounds || job.rounds_configured == 0) {
    return TableModel::number_text(row, column);
  }
  return QString("%1 of %2").arg(job.rounds_done).arg(job.rounds_configured);
}

CellMark ControlJobsModel::mark(int row, int /*column*/) const {
  return has_ended(row_at(row).state) ? CellMark::faint : CellMark::none;
}

}  // namespace tributary::dashboard
