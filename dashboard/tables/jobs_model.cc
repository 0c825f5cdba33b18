#include "dashboard/tables/jobs_model.h"

#include <algorithm>
#include <cmath>

namespace tributary::dashboard {
namespace {

enum JobColumn : int {
  kJobName,
  kJobState,
  kJobProgress,
  kJobRounds,
  kJobModel,
  kJobParameters,
  kJobSubmitted,
  kJobReason,
};

constexpr double kJobTicksPerSecond = 1e9;

std::vector<TableColumn> job_columns() {
  constexpr auto kNumber = CellKind::number;
  return {
      {"job", "Job", CellKind::text, Unit::one, "", true},
      {"state", "State", CellKind::rank, Unit::one, "", true},
      {"progress", "Progress", kNumber, Unit::share, "Rounds done of those wanted", true},
      {"rounds", "Rounds", kNumber, Unit::count, "Done, of those wanted", true},
      {"model", "Model", CellKind::text, Unit::one, "", true},
      {"parameters", "Parameters", kNumber, Unit::count, "Values of the model", true},
      {"submitted", "Submitted", kNumber, Unit::wall_time, "", true},
      {"reason", "Reason", CellKind::text, Unit::one, "Of its state", true},
  };
}

double known_count(std::uint64_t count) {
  return count == 0 ? kUnknown : static_cast<double>(count);
}

}  // namespace

JobsModel::JobsModel(QObject* parent) : RowsModel(job_columns(), parent) {}

void JobsModel::update(const RunView& view) {
  std::vector<JobTableRow> now;
  for (const JobInfo& job : view.jobs()) {
    const RoundTable* const rounds = view.rounds(job.job);
    const bool any = rounds && rounds->size() > 0;
    now.push_back({.job = job, .rounds = any ? rounds->round.back() : 0});
  }
  show_rows(std::move(now));
}

bool JobsModel::same_thing(const JobTableRow& a, const JobTableRow& b) const {
  return a.job.job == b.job.job && a.job.submitted_wall_ns == b.job.submitted_wall_ns;
}

bool JobsModel::looks_same(const JobTableRow& a, const JobTableRow& b) const {
  return a.rounds == b.rounds && a.job.state == b.job.state && a.job.reason == b.job.reason &&
         a.job.name == b.job.name && a.job.model == b.job.model &&
         a.job.rounds_wanted == b.job.rounds_wanted && a.job.parameters == b.job.parameters;
}

double JobsModel::number(int row, int column) const {
  const JobTableRow& shown = row_at(row);
  switch (column) {
    case kJobState:
      return static_cast<double>(shown.job.state);
    case kJobProgress:
      return static_cast<double>(shown.rounds) / known_count(shown.job.rounds_wanted);
    case kJobRounds:
      return static_cast<double>(shown.rounds);
    case kJobParameters:
      return known_count(shown.job.parameters);
    case kJobSubmitted:
      return static_cast<double>(shown.job.submitted_wall_ns) / kJobTicksPerSecond;
    default:
      return kUnknown;
  }
}

std::string_view JobsModel::words(int row, int column) const {
  const JobInfo& job = row_at(row).job;
  switch (column) {
    case kJobName:
      return job.name.empty() ? "(unreadable)" : std::string_view(job.name);
    case kJobState:
      return wire::EnumNameJobState(job.state);
    case kJobModel:
      return job.model;
    case kJobReason:
      return job.reason;
    default:
      return {};
  }
}

QString JobsModel::number_text(int row, int column) const {
  const QString text = TableModel::number_text(row, column);
  const std::uint64_t wanted = row_at(row).job.rounds_wanted;
  return column == kJobRounds && wanted > 0 ? text + " of " + QString::number(wanted) : text;
}

CellMark JobsModel::mark(int row, int column) const {
  if (column != kJobState) return CellMark::none;
  switch (row_at(row).job.state) {
    case wire::JobState::finished:
      return CellMark::good;
    case wire::JobState::paused:
    case wire::JobState::stopped:
      return CellMark::warning;
    default:
      return CellMark::none;
  }
}

}  // namespace tributary::dashboard
