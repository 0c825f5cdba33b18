#include "cli/run/job_journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/accept.h"
#include "core/net/zmq/control.h"
#include "core/service/operator_messages.h"

namespace tributary {
namespace {

// The journal.file of packaging/coordinator.toml.
constexpr const char* kInstalled = "/var/lib/tributary-coordinator/coordinator.db";
// Limit for the coordinator's answer.
constexpr std::chrono::seconds kPatience{30};

// Calls `take` with every value of the coordinator's own series after the row `after`, which
// advances.
template <typename Take>
Status each_metric(RunFile& run, std::string_view name, std::uint64_t job, std::int64_t& after,
                   const Take& take) {
  // Rows read at a time, so that memory does not grow with the journal.
  constexpr std::uint32_t kRowsMax = 10'000;
  while (true) {
    TRIBUTARY_ASSIGN(const std::vector<StoredMetric> rows, run.metrics(name, after, kRowsMax));
    if (rows.empty()) return {};
    for (const StoredMetric& row : rows) {
      after = row.number;
      if (row.job == job && row.agent_id.empty()) take(row.value);
    }
  }
}

}  // namespace

// The environment variable serves operators who run a coordinator from another place.
std::string usual_run_file() {
  const char* named = std::getenv("TRIBUTARY_RUN");
  return named != nullptr && *named != 0 ? named : kInstalled;
}

Option run_option(std::string& run_file) {
  return {.name = "--run",
          .value_name = "FILE",
          .help = fmt::format("journal of the coordinator ($TRIBUTARY_RUN, or\n{})", kInstalled),
          .accept = accept_file(run_file)};
}

Option job_option(std::string& job) {
  return {.name = "JOB",
          .value_name = "JOB",
          .help = "name or number of the job",
          .accept =
              [&job](const std::string& value) {
                job = value;
                return Status();
              },
          .required = true};
}

bool JobInJournal::over() const {
  return record.state == wire::JobState::finished || record.state == wire::JobState::stopped;
}

Result<std::vector<JobInJournal>> jobs_in(RunFile& run) {
  TRIBUTARY_ASSIGN(std::vector<JobRecord> records, run.jobs());
  std::vector<JobInJournal> jobs;
  for (JobRecord& record : records) {
    TRIBUTARY_ASSIGN(auto model, JobModel::make(record.definition));
    TRIBUTARY_ASSIGN(const std::uint64_t last, run.last_round(record.job));
    jobs.push_back(
        {.record = std::move(record), .model = std::move(model), .rounds_committed = last});
  }
  return jobs;
}

Result<JobInJournal> job_in(RunFile& run, std::string_view job) {
  TRIBUTARY_ASSIGN(std::vector<JobInJournal> jobs, jobs_in(run));
  const JobInJournal* found = nullptr;
  for (const JobInJournal& each : jobs) {
    if (each.name() != job && fmt::format("{}", each.record.job) != job) continue;
    found = &each;
    // A job that has not ended takes precedence over ended ones with the same name.
    if (!each.over()) break;
  }
  if (found) return *found;
  std::string names;
  for (const JobInJournal& each : jobs) names += (names.empty() ? "" : ", ") + each.name();
  TRIBUTARY_ASSIGN(const MissingRounds missing, run.missing());
  return Status(StatusCode::not_found,
                {.what = fmt::format("job '{}'", job),
                 .expected = names.empty() ? "a submitted job" : "one of " + names,
                 .got = "no job with this name",
                 .remedy = missing.any() ? missing.text(run.database().path())
                                         : "list the jobs with 'tributary job list'"});
}

Result<double> newest_metric(RunFile& run, std::string_view name, std::uint64_t job,
                             std::int64_t& after) {
  double newest = std::numeric_limits<double>::quiet_NaN();
  TRIBUTARY_TRY(each_metric(run, name, job, after, [&](double value) { newest = value; }));
  return newest;
}

Result<double> sum_of_metric(RunFile& run, std::string_view name, std::uint64_t job) {
  double sum = 0;
  std::int64_t after = 0;
  TRIBUTARY_TRY(each_metric(run, name, job, after, [&](double value) { sum += value; }));
  return sum;
}

Result<nlohmann::ordered_json> ask_coordinator(const std::string& run_file,
                                               std::string_view question) {
  TRIBUTARY_ASSIGN(const std::string text, ask_daemon(control_path(run_file), question, kPatience));
  return read_operator_answer(text);
}

}  // namespace tributary
