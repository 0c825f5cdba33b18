#include "core/run/run_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/store/coordinator/packed.h"
#include "schemas/limits.h"

namespace tributary {
namespace {

// The newest jobs are read, as many as RunLimits keeps.
constexpr std::uint32_t kJobsReadMax = 64;

// Limits of what is read of one round; a hostile file may have more. SQLite's substr() of an empty
// value is NULL, which the queries make empty again.
constexpr std::uint32_t kOutcomeBytesMax = 1u << 20;
constexpr std::uint32_t kSetBytesMax = wire::kMembersMax / 8;

}  // namespace

RunReader::RunReader(std::unique_ptr<RunFile> file, Portion portion)
    : file_(std::move(file)), portion_(portion) {}

double RunReader::seconds_of(std::int64_t wall_ns) const {
  return (static_cast<double>(wall_ns) - static_cast<double>(base_wall_ns_)) / 1e9;
}

double RunReader::parameters_of(std::uint64_t job) const {
  const auto known = jobs_.find(job);
  const std::uint64_t parameters = known == jobs_.end() ? 0 : known->second.definition.parameters;
  return parameters > 0 ? static_cast<double>(parameters) : kUnknown;
}

// --- identity and position -----------------------------------------------------------------------

// The run is the same if its first job is, and if no row that was read is missing.
Result<bool> RunReader::is_the_same(Database& database) {
  Mark mark;
  std::optional<std::int64_t> last_round_row;
  TRIBUTARY_TRY(database
                    .first("SELECT job, submitted_wall_ns FROM jobs ORDER BY submission LIMIT 1",
                           std::tie(mark.first_job, mark.submitted_wall_ns))
                    .status());
  TRIBUTARY_TRY(
      database.first("SELECT max(round_row) FROM rounds", std::tie(last_round_row)).status());
  if (mark_.first_job != 0 && mark != mark_) return false;
  if (last_round_row.value_or(0) < position_.round) return false;
  mark_ = mark;
  position_.round_end = last_round_row.value_or(0);
  return true;
}

Result<bool> RunReader::reconnect(std::unique_ptr<RunFile>& file) {
  TRIBUTARY_ASSIGN(const bool same, is_the_same(file->database()));
  if (!same) return false;
  file_ = std::move(file);
  data_version_ = -1;  // the version counts per connection
  return true;
}

// SQLite's data_version changes if another connection has committed, so an idle file costs one
// query.
Result<bool> RunReader::anything_new() {
  std::int64_t version = 0;
  TRIBUTARY_TRY(file_->database().first("PRAGMA data_version", std::tie(version)).status());
  if (version == data_version_) return false;
  TRIBUTARY_ASSIGN(const bool same, is_the_same(file_->database()));
  if (!same) {
    return Status(StatusCode::unavailable,
                  {.what = fmt::format("run file '{}'", file_->database().path()),
                   .expected = "the same run as before",
                   .got = "another run",
                   .remedy = "the new run is read from its beginning"});
  }
  data_version_ = version;  // before any row is read: a later change gives another version
  return true;
}

// The start of the first round, or else the submission of the first job, or else the opening of the
// journal.
Result<std::int64_t> RunReader::first_date() {
  std::int64_t date = 0;
  Database& database = file_->database();
  for (const std::string_view question :
       {"SELECT committed_wall_ns - (committed_at_ns - began_at_ns) FROM rounds "
        "ORDER BY round_row LIMIT 1",
        "SELECT submitted_wall_ns FROM jobs ORDER BY submission LIMIT 1",
        "SELECT began_wall_ns FROM runs ORDER BY run LIMIT 1"}) {
    TRIBUTARY_ASSIGN(const bool found, database.first(question, std::tie(date)));
    if (found) break;
  }
  return date;
}

// Old events are skipped. The metrics of the headline end at the current last row; later ones are
// read with the others.
Status RunReader::begin(RunChanges& changes) {
  TRIBUTARY_ASSIGN(base_wall_ns_, first_date());
  std::optional<std::int64_t> last_event;
  std::optional<std::int64_t> last_metric;
  Database& database = file_->database();
  TRIBUTARY_TRY(database.first("SELECT max(event) FROM events", std::tie(last_event)).status());
  TRIBUTARY_TRY(database.first("SELECT max(metric) FROM metrics", std::tie(last_metric)).status());
  // A hostile file may contain the smallest integer, from which nothing can be subtracted.
  position_.event = std::max<std::int64_t>(
      0, std::max<std::int64_t>(0, last_event.value_or(0)) - portion_.events_max);
  headline_.end = last_metric.value_or(0);
  changes.base_wall_ns = base_wall_ns_;
  begun_ = true;
  return {};
}

Result<bool> RunReader::step(RunChanges& changes) {
  if (stage_ == Stage::idle) {
    TRIBUTARY_TRY(look_for_missing(changes));
    TRIBUTARY_ASSIGN(const bool is_new, anything_new());
    if (!is_new) return false;
    if (!begun_) TRIBUTARY_TRY(begin(changes));
    stage_ = Stage::jobs;
  }
  TRIBUTARY_ASSIGN(const bool done, read(changes));
  if (!done) return true;
  if (stage_ == Stage::headline && !overview_read_) changes.overview_read = overview_read_ = true;
  stage_ = static_cast<Stage>(static_cast<int>(stage_) + 1);
  if (stage_ != Stage::end) return true;
  stage_ = Stage::idle;
  return false;
}

Result<bool> RunReader::read(RunChanges& changes) {
  switch (stage_) {
    case Stage::jobs:
      return read_jobs(changes);
    case Stage::rounds:
      return read_rounds(changes);
    case Stage::headline:
      return read_headline(changes);
    case Stage::agents:
      return read_agents(changes);
    case Stage::metrics:
      return read_metrics(changes);
    case Stage::reports:
      return read_reports(changes);
    case Stage::links:
      return read_links(changes);
    case Stage::events:
      return read_events(changes);
    case Stage::plans:
      return read_plans(changes);
    case Stage::idle:
    case Stage::end:
      break;
  }
  return true;
}

// --- jobs --------------------------------------------------------------------------------------

// A definition is read again only if its revision has changed.
Result<bool> RunReader::read_jobs(RunChanges& changes) {
  std::vector<JobInfo> jobs;
  std::vector<std::uint32_t> revisions;
  const auto add = [&](Rows& row) {
    JobInfo& job = jobs.emplace_back();
    return row.read(job.job, revisions.emplace_back(), job.state, job.reason,
                    job.submitted_wall_ns);
  };
  TRIBUTARY_TRY(file_->database().each(
      "SELECT job, revision, state, substr(state_reason, 1, 1024), submitted_wall_ns FROM jobs "
      "ORDER BY submission DESC LIMIT ?",
      add, kJobsReadMax));
  std::erase_if(jobs_, [&](const auto& known) {
    return std::ranges::find(jobs, known.first, &JobInfo::job) == jobs.end();
  });
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    KnownJob& known = jobs_[jobs[i].job];
    if (known.revision != revisions[i]) {
      TRIBUTARY_TRY(read_definition(jobs[i].job, known.definition));
    }
    known.revision = revisions[i];
    jobs[i].state = std::min(jobs[i].state, wire::JobState::MAX);
    jobs[i].name = known.definition.name;
    jobs[i].model = known.definition.model;
    jobs[i].rounds_configured = known.definition.rounds_configured;
    jobs[i].parameters = known.definition.parameters;
  }
  std::ranges::reverse(jobs);
  changes.jobs = std::move(jobs);
  return true;
}

// Rounds beside the file change nothing in it.
Status RunReader::look_for_missing(RunChanges& changes) {
  TRIBUTARY_ASSIGN(const MissingRounds missing, file_->missing());
  if (missing != missing_) changes.file_warning = missing.text(file_->database().path());
  missing_ = missing;
  return {};
}

Status RunReader::read_definition(std::uint64_t job, JobDefinition& definition) {
  SharedBytes frame;
  TRIBUTARY_TRY(file_->database()
                    .first("SELECT definition FROM jobs WHERE job = ?", std::tie(frame), job)
                    .status());
  definition = job_definition(frame);
  return {};
}

// --- rounds ------------------------------------------------------------------------------------

// Rounds that were added after the jobs were read wait for the next pass, so that every round's job
// is known.
Result<bool> RunReader::read_rounds(RunChanges& changes) {
  const std::uint32_t rows_max = portion_.rows_max;
  std::uint32_t rows = 0;
  const auto add = [&](Rows& row) -> Status {
    std::int64_t round_row = 0;
    ByteSpan outcomes;
    std::uint32_t buckets = 0;
    std::int64_t began_ns = 0;
    std::int64_t committed_ns = 0;
    std::int64_t committed_wall_ns = 0;
    NewRound round;
    TRIBUTARY_TRY(row.read(round_row, round.job, round.round, round.attempt, round.members, buckets,
                           began_ns, committed_ns, committed_wall_ns, round.bytes_up,
                           round.bytes_down, outcomes));
    round.ended_s = seconds_of(committed_wall_ns);
    round.began_s =
        round.ended_s - (static_cast<double>(committed_ns) - static_cast<double>(began_ns)) / 1e9;
    TRIBUTARY_ASSIGN(const RoundCounts counts, count(round_row, round.members, buckets, outcomes));
    const double dense_bytes = 4 * parameters_of(round.job);
    round.contributors = counts.contributors.count();
    round.dense_bytes_up = dense_bytes * counts.dense_updates_up;
    round.dense_bytes_down = dense_bytes * counts.dense_updates_down;
    changes.rounds.push_back(round);
    position_.round = round_row;
    ++rows;
    return {};
  };
  TRIBUTARY_TRY(file_->database().each(
      "SELECT round_row, job, round, attempt, members, buckets, began_at_ns, committed_at_ns, "
      "committed_wall_ns, bytes_up, bytes_down, coalesce(substr(outcomes, 1, ?), x'') FROM rounds "
      "WHERE round_row > ? AND round_row <= ? ORDER BY round_row LIMIT ?",
      add, kOutcomeBytesMax, position_.round, position_.round_end, rows_max));
  return rows < rows_max;
}

Result<RoundCounts> RunReader::count(std::int64_t round_row, std::uint32_t members,
                                     std::uint32_t buckets, ByteSpan packed_outcomes) {
  TRIBUTARY_ASSIGN(const std::vector<OutcomeRecord> outcomes,
                   unpack_outcomes(packed_outcomes, file_->database().path()));
  std::vector<ContributorSetRecord> sets;
  const auto add = [&](Rows& row) -> Status {
    ByteSpan bits;
    TRIBUTARY_TRY(row.read(bits));
    sets.push_back({.bits = {bits.begin(), bits.end()}});
    return {};
  };
  TRIBUTARY_TRY(
      file_->database().each("SELECT coalesce(substr(bits, 1, ?), x'') FROM contributor_sets WHERE "
                             "round_row = ? ORDER BY place LIMIT ?",
                             add, kSetBytesMax, round_row, wire::kBucketsMax));
  return count_round(std::min(members, wire::kMembersMax), buckets, outcomes, sets);
}

}  // namespace tributary
