#include "core/store/coordinator/run_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "core/store/coordinator/coordinator_reading.h"
#include "core/store/coordinator/coordinator_schema.h"
#include "core/store/database/restored.h"

namespace tributary {
namespace {

// Reads a column that may be NULL as NaN. SQLite has no NaN and stores it as NULL.
class Gap {
 public:
  explicit Gap(double& value) : value_(value) {}
  ~Gap() { value_ = read_.value_or(std::numeric_limits<double>::quiet_NaN()); }
  Gap(const Gap&) = delete;
  Gap& operator=(const Gap&) = delete;
  std::optional<double>& read() { return read_; }

 private:
  double& value_;
  std::optional<double> read_;
};

// Wait, decoding time and bytes of a round are known only after its report was sent, so agents
// report them with the next round. This moves them to the round that they belong to; the last
// report of each agent has none. The reports are in order of rounds. A report with neither wait nor
// bytes is the first of an agent's process, which does not know its earlier rounds.
void move_to_own_round(std::vector<AgentRoundRecord>& reports) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  std::map<std::string_view, AgentRoundRecord*> newest;  // of each agent so far
  for (AgentRoundRecord& report : reports) {
    AgentRoundRecord*& before = newest[report.agent_id];
    const bool knows = report.wait_s != 0 || report.bytes_up != 0;
    if (before && knows && before->id.round < report.id.round) {
      before->wait_s = report.wait_s;
      before->decode_s = report.decode_s;
      before->bytes_up = report.bytes_up;
      before->bytes_down = report.bytes_down;
    }
    report.wait_s = kUnknown;
    report.decode_s = kUnknown;
    report.bytes_up = 0;
    report.bytes_down = 0;
    before = &report;
  }
}

Status read_metric(Rows& row, std::vector<StoredMetric>& metrics) {
  StoredMetric& metric = metrics.emplace_back();
  Gap value(metric.value);
  return row.read(metric.number, metric.at_wall_ns, metric.name, value.read(), metric.job,
                  metric.round, metric.agent_id);
}

}  // namespace

// Opens the file beside the coordinator that writes it. Versions back to the first are read;
// columns that a file lacks are NULL.
Result<std::unique_ptr<RunFile>> RunFile::open(const std::string& path) {
  struct stat found = {};
  const bool exists = ::stat(path.c_str(), &found) == 0;
  const bool missing = !exists && (errno == ENOENT || errno == ENOTDIR);
  if (missing || (exists && S_ISDIR(found.st_mode))) {
    return Status(missing ? StatusCode::not_found : StatusCode::io_error,
                  {.what = fmt::format("run file '{}'", path),
                   .expected = "a coordinator's journal",
                   .got = missing ? "no such file" : "a folder",
                   .remedy = "name the file of the coordinator's setting journal.file"});
  }
  TRIBUTARY_ASSIGN(std::unique_ptr<Database> database, Database::open(path, {.read_only = true}));
  TRIBUTARY_ASSIGN(const std::uint32_t version, coordinator_migrations().check_version(*database));
  return std::unique_ptr<RunFile>(new RunFile(std::move(database), version));
}

Result<MissingRounds> RunFile::missing() { return missing_rounds(*database_, version_); }

std::string_view RunFile::later_report_columns() const {
  // Schema version that introduced the columns.
  constexpr std::uint32_t kSince = 2;
  return version_ >= kSince ? "decode_s, gain" : "NULL, NULL";
}

// An older coordinator may have written the file, and a reader never changes its schema.
std::string_view RunFile::mechanisms_column() const {
  constexpr std::uint32_t kSince = 3;
  return version_ >= kSince ? "mechanisms" : "NULL";
}

Result<SharedBytes> RunFile::round_mechanisms(std::uint64_t job, std::uint64_t round) {
  SharedBytes mechanisms;
  TRIBUTARY_TRY(database_
                    ->first(fmt::format("SELECT {} FROM rounds WHERE job = ? AND round = ?",
                                        mechanisms_column()),
                            std::tie(mechanisms), job, round)
                    .status());
  return mechanisms;
}

Result<std::vector<JobRecord>> RunFile::jobs() { return CoordinatorReading(*database_).jobs(); }

Result<std::vector<RoundRecord>> RunFile::rounds(std::uint64_t job, std::uint64_t first_round,
                                                 std::uint64_t last_round) {
  constexpr std::uint32_t kRoundsAtATime = 1'000;
  std::vector<RoundRecord> all;
  for (std::uint64_t from = first_round; from <= last_round;) {
    TRIBUTARY_ASSIGN(std::vector<RoundRecord> page,
                     CoordinatorReading(*database_).rounds(job, from, last_round, kRoundsAtATime));
    const bool more = page.size() == kRoundsAtATime;
    if (more) from = page.back().id.round + 1;
    std::ranges::move(page, std::back_inserter(all));
    if (!more) break;
  }
  return all;
}

Result<RoundLoaded> RunFile::load_round(std::uint64_t job, std::uint64_t round) {
  LoadRound request;
  request.job = job;
  request.round = round;
  return CoordinatorReading(*database_).load_round(request);
}

// All columns but the id may be NULL: an agent may have reported before its own record was stored.
Result<std::vector<AgentRecord>> RunFile::agents() {
  std::vector<AgentRecord> agents;
  const auto add = [&](Rows& row) -> Status {
    AgentRecord& agent = agents.emplace_back();
    std::optional<std::uint64_t> incarnation;
    std::optional<std::string> build;
    std::optional<std::string> device_model;
    std::optional<std::uint64_t> job;
    std::optional<std::uint64_t> model_version;
    TRIBUTARY_TRY(row.read(agent.agent_id, incarnation, build, device_model, agent.connected, job,
                           model_version));
    agent.incarnation = incarnation.value_or(0);
    agent.build = build.value_or("");
    agent.device_model = device_model.value_or("");
    agent.job = job.value_or(0);
    agent.model_version = model_version.value_or(0);
    return {};
  };
  TRIBUTARY_TRY(
      database_->each("SELECT agent_id, incarnation, build, device_model, connected, job, "
                      "model_version FROM agents ORDER BY agent_id",
                      add));
  return agents;
}

Result<std::vector<RoundDate>> RunFile::round_dates(std::uint64_t job, std::uint64_t first_round,
                                                    std::uint64_t last_round) {
  std::vector<RoundDate> dates;
  const auto add = [&](Rows& row) {
    RoundDate& date = dates.emplace_back();
    return row.read(date.round, date.committed_wall_ns);
  };
  TRIBUTARY_TRY(database_->each(
      "SELECT round, committed_wall_ns FROM rounds WHERE job = ? AND round BETWEEN ? AND ? "
      "ORDER BY round",
      add, job, first_round, last_round));
  return dates;
}

Result<std::uint64_t> RunFile::last_round(std::uint64_t job) {
  std::optional<std::uint64_t> last;
  TRIBUTARY_TRY(database_->first("SELECT max(round) FROM rounds WHERE job = ?", std::tie(last), job)
                    .status());
  return last.value_or(0);
}

Result<std::optional<RestoredJob>> RunFile::restore(std::uint64_t job) {
  // In one transaction, because a checkpoint deletes the redo before it.
  TRIBUTARY_TRY(database_->execute("BEGIN"));
  Result<std::optional<RestoredJob>> restored = CoordinatorReading(*database_).restore_one(job);
  TRIBUTARY_TRY(database_->execute("COMMIT"));
  return restored;
}

Result<std::vector<EpochRecord>> RunFile::epochs(std::uint64_t job) {
  return CoordinatorReading(*database_).epochs(job);
}

// Reads as many rounds more as an agent's next report may be away.
Result<std::vector<AgentRoundRecord>> RunFile::agent_rounds(std::uint64_t job,
                                                            std::uint64_t first_round,
                                                            std::uint64_t last_round) {
  constexpr std::uint64_t kNextReportMax = 16;
  constexpr std::uint64_t kLast = std::numeric_limits<std::int64_t>::max();
  const std::uint64_t read_to =
      last_round < kLast - kNextReportMax ? last_round + kNextReportMax : last_round;
  std::vector<AgentRoundRecord> reports;
  for (std::uint64_t from = first_round; from <= read_to;) {
    TRIBUTARY_ASSIGN(const std::optional<std::uint64_t> end,
                     end_of_report_page(job, from, read_to));
    if (!end) break;
    TRIBUTARY_TRY(read_reports(job, from, *end, reports));
    from = *end + 1;
  }
  move_to_own_round(reports);
  std::erase_if(reports,
                [&](const AgentRoundRecord& report) { return report.id.round > last_round; });
  return reports;
}

// The last round of the next page of reports; empty after the last report.
Result<std::optional<std::uint64_t>> RunFile::end_of_report_page(std::uint64_t job,
                                                                 std::uint64_t first_round,
                                                                 std::uint64_t last_round) {
  constexpr std::uint32_t kReportsAtATime = 20'000;
  std::optional<std::uint64_t> end;
  TRIBUTARY_TRY(database_
                    ->first("SELECT max(round) FROM (SELECT round FROM agent_rounds "
                            "WHERE job = ? AND round BETWEEN ? AND ? ORDER BY round LIMIT ?)",
                            std::tie(end), job, first_round, last_round, kReportsAtATime)
                    .status());
  return end;
}

Status RunFile::read_reports(std::uint64_t job, std::uint64_t first_round, std::uint64_t last_round,
                             std::vector<AgentRoundRecord>& reports) {
  const auto add = [&](Rows& row) -> Status {
    AgentRoundRecord& report = reports.emplace_back();
    Gap loss(report.loss);
    Gap compute(report.compute_s);
    Gap encode(report.encode_s);
    Gap wait(report.wait_s);
    Gap update(report.update_norm);
    Gap residual(report.residual_norm);
    Gap decode(report.decode_s);
    Gap gain(report.gain);
    return row.read(report.id.job, report.id.round, report.id.epoch, report.id.attempt,
                    report.agent_id, loss.read(), report.examples, compute.read(), encode.read(),
                    wait.read(), update.read(), residual.read(), report.bytes_up, report.bytes_down,
                    decode.read(), gain.read(), report.mechanisms);
  };
  return database_->each(
      fmt::format("SELECT r.job, round, epoch, attempt, agent_id, loss, examples, compute_s, "
                  "encode_s, wait_s, update_norm, residual_norm, bytes_up, bytes_down, {}, {} "
                  "FROM agent_rounds r JOIN agents USING (agent) "
                  "WHERE r.job = ? AND round BETWEEN ? AND ? ORDER BY round, agent_id, attempt",
                  later_report_columns(), mechanisms_column()),
      add, job, first_round, last_round);
}

Result<std::vector<StoredEvent>> RunFile::events(std::int64_t after, std::uint32_t rows_max) {
  std::vector<StoredEvent> events;
  const auto add = [&](Rows& row) -> Status {
    StoredEvent& event = events.emplace_back();
    TRIBUTARY_TRY(row.read(event.number, event.at_wall_ns, event.level, event.name, event.reason,
                           event.source, event.text, event.job, event.round));
    // An unknown level would be out of range for users of the enumeration.
    if (event.level <= LogLevel::error) return {};
    return damaged_journal(database_->path(), "level of an event", "a known value",
                           fmt::format("{}", static_cast<unsigned>(event.level)));
  };
  TRIBUTARY_TRY(
      database_->each("SELECT event, at_wall_ns, level, name, reason, source, text, job, round "
                      "FROM events WHERE event > ? ORDER BY event LIMIT ?",
                      add, after, rows_max));
  return events;
}

Result<std::vector<StoredMetric>> RunFile::metrics(std::string_view name, std::int64_t after,
                                                   std::uint32_t rows_max) {
  std::vector<StoredMetric> metrics;
  TRIBUTARY_TRY(database_->each(
      "SELECT metric, at_wall_ns, name, value, job, round, agent_id FROM metrics "
      "WHERE name = ? AND metric > ? ORDER BY metric LIMIT ?",
      [&](Rows& row) { return read_metric(row, metrics); }, name, after, rows_max));
  return metrics;
}

Result<std::vector<StoredMetric>> RunFile::metrics(std::int64_t after, std::uint32_t rows_max) {
  std::vector<StoredMetric> metrics;
  TRIBUTARY_TRY(database_->each(
      "SELECT metric, at_wall_ns, name, value, job, round, agent_id FROM metrics "
      "WHERE metric > ? ORDER BY metric LIMIT ?",
      [&](Rows& row) { return read_metric(row, metrics); }, after, rows_max));
  return metrics;
}

Result<std::vector<StoredLinkSample>> RunFile::link_samples(std::int64_t after,
                                                            std::uint32_t rows_max) {
  std::vector<StoredLinkSample> samples;
  const auto add = [&](Rows& row) -> Status {
    StoredLinkSample& stored = samples.emplace_back();
    LinkSampleRecord& sample = stored.sample;
    Gap alpha(sample.alpha_s);
    Gap beta(sample.beta_s_per_byte);
    Gap confidence(sample.confidence);
    TRIBUTARY_TRY(row.read(stored.number, sample.at_wall_ns, sample.from, sample.to, sample.method,
                           alpha.read(), beta.read(), confidence.read()));
    if (sample.method <= wire::LinkMethod::MAX) return {};
    return damaged_journal(database_->path(), "method of a link sample", "a known value",
                           fmt::format("{}", static_cast<unsigned>(sample.method)));
  };
  TRIBUTARY_TRY(
      database_->each("SELECT link_sample, at_wall_ns, from_id, to_id, method, alpha_s, "
                      "beta_s_per_byte, confidence FROM link_samples WHERE link_sample > ? "
                      "ORDER BY link_sample LIMIT ?",
                      add, after, rows_max));
  return samples;
}

}  // namespace tributary
