// tributary job list and show. Both read the journal, whether the coordinator runs or not.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/accept.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/run/job_journal.h"
#include "cli/run/missing_in_answer.h"
#include "cli/run/round_mechanisms.h"
#include "cli/text.h"
#include "core/round/common/machine/repeated_bytes.h"
#include "core/run/frame_facts.h"
#include "core/run/round_detail.h"
#include "core/run/run_changes.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

// The options of both commands; `list` uses only the journal.
struct ShowOptions {
  std::string run_file = usual_run_file();
  std::string job;
  std::uint64_t round = 0;  // 0: the last committed one
};

// NaN means that no evaluation has been stored yet. JSON shows it as null.
struct JobFigures {
  double accuracy = NAN;
  double loss = NAN;
};

// The newest readings; NaN if the job has none.
Result<JobFigures> figures_of(RunFile& run, const JobInJournal& job) {
  JobFigures figures;
  // newest_metric() advances `after`, and each metric is searched from the beginning.
  std::int64_t after = 0;
  TRIBUTARY_ASSIGN(figures.accuracy, newest_metric(run, kAccuracyMetric, job.record.job, after));
  after = 0;
  TRIBUTARY_ASSIGN(figures.loss, newest_metric(run, kLossMetric, job.record.job, after));
  return figures;
}

std::string share_text(double share) {
  return std::isnan(share) ? "-" : fmt::format("{:.2f} %", 100 * share);
}

// The fields that both commands have in common.
Json json_of(const JobInJournal& job, const JobFigures& figures) {
  return {{"name", job.name()},           {"job", job.record.job},
          {"state", job.state()},         {"state_reason", job.record.state_reason},
          {"rounds", job.rounds()},       {"rounds_committed", job.rounds_committed},
          {"accuracy", figures.accuracy}, {"loss", figures.loss}};
}

// Returns payload bytes that were sent more than once, by direction and cause.
Result<Json> repeated_json(RunFile& run, const JobInJournal& job) {
  Json repeated = {{"up", Json::object()}, {"down", Json::object()}};
  for (const RepeatedBytes::Field& field : RepeatedBytes::kFields) {
    TRIBUTARY_ASSIGN(const double bytes,
                     sum_of_metric(run, reading_name(field.reading), job.record.job));
    repeated[std::string(field.direction)][std::string(field.cause)] =
        static_cast<std::uint64_t>(bytes);
  }
  return repeated;
}

// For example "2,100 bytes: up CAUSE 1,900, down CAUSE 200"; causes without bytes are left out.
std::string repeated_text(const Json& repeated) {
  std::uint64_t all = 0;
  std::string causes;
  for (const auto& [direction, by_cause] : repeated.items()) {
    for (const auto& [cause, bytes] : by_cause.items()) {
      if (bytes == 0) continue;
      all += bytes.get<std::uint64_t>();
      causes += fmt::format("{}{} {} {}", causes.empty() ? "" : ", ", direction, cause,
                            count_text(bytes.get<std::uint64_t>()));
    }
  }
  return fmt::format("{} bytes{}", count_text(all), causes.empty() ? "" : ": " + causes);
}

// One row per job, in the order of submission.
Result<Answer> list(const ShowOptions& options) {
  TRIBUTARY_ASSIGN(const auto run, RunFile::open(options.run_file));
  TRIBUTARY_ASSIGN(const MissingRounds missing, run->missing());
  TRIBUTARY_ASSIGN(const std::vector<JobInJournal> jobs, jobs_in(*run));
  Table table({"name", "state", "rounds", "of", "accuracy", "job"});
  Json all = Json::array();
  for (const JobInJournal& job : jobs) {
    TRIBUTARY_ASSIGN(const JobFigures figures, figures_of(*run, job));
    table.add({printable(job.name()), job.state(), count_text(job.rounds_committed),
               count_text(job.rounds()), share_text(figures.accuracy),
               fmt::format("{}", job.record.job)});
    all.push_back(json_of(job, figures));
  }
  Answer answer;
  answer.text = jobs.empty() ? "no jobs\n" : table.text();
  for (const JobInJournal& job : jobs) {
    // Only a pause needs an operator; reasons of other states are shown by `job show`.
    if (job.record.state != wire::JobState::paused || job.record.state_reason.empty()) continue;
    answer.text += fmt::format("{} is paused: {}\n", printable(job.name()),
                               printable(job.record.state_reason));
  }
  answer.text += missing_line(missing, options.run_file);
  Json data = {{"jobs", std::move(all)}};
  add_missing(missing, data);
  answer.data = json_text(data);
  return answer;
}

// A selection of the definition: the settings that decide how the job learns.
Json definition_json(const wire::Job& job) {
  return {{"model", job.model()->name() ? job.model()->name()->str() : ""},
          {"parameters", parameters_of(job)},
          {"mode", wire::EnumNameExchangeMode(job.mode())},
          {"optimizer", wire::EnumNameOptimizerKind(job.optimizer()->kind())},
          {"strategy", job.strategy() ? job.strategy()->str() : ""},
          {"schedule", job.schedule() ? job.schedule()->str() : ""},
          {"weighting", wire::EnumNameWeighting(job.weighting())},
          {"batch_size", job.batch_size()},
          {"evaluate_every", job.evaluate_every_rounds()},
          {"seed", job.seed()}};
}

// Null before the first commit, or if retention has removed the round.
Result<Json> last_round_json(RunFile& run, const JobInJournal& job) {
  if (job.rounds_committed == 0) return Json();
  TRIBUTARY_ASSIGN(const auto rounds,
                   run.rounds(job.record.job, job.rounds_committed, job.rounds_committed));
  if (rounds.empty()) return Json();
  // Times are of the coordinator's monotonic clock, so only their difference means anything.
  const RoundRecord& last = rounds.front();
  return Json{{"round", last.id.round},
              {"seconds", static_cast<double>(last.committed_at_ns - last.began_at_ns) / 1e9},
              {"members", last.members},
              {"bytes_up", last.bytes_up},
              {"bytes_down", last.bytes_down},
              {"model_hash", fmt::format("{:016x}", last.model_hash)}};
}

// The facts of one round; empty before the first commit.
Result<std::optional<RoundDetail>> detail_of(RunFile& run, const JobInJournal& job,
                                             std::uint64_t round) {
  if (round == 0) round = job.rounds_committed;
  if (round == 0) return std::optional<RoundDetail>();
  TRIBUTARY_ASSIGN(RoundDetail detail, read_round_detail(run, job.record.job, round));
  return std::optional(std::move(detail));
}

Result<Answer> show(const ShowOptions& options) {
  TRIBUTARY_ASSIGN(const auto run, RunFile::open(options.run_file));
  TRIBUTARY_ASSIGN(const MissingRounds missing, run->missing());
  TRIBUTARY_ASSIGN(const JobInJournal job, job_in(*run, options.job));
  TRIBUTARY_ASSIGN(const JobFigures figures, figures_of(*run, job));
  TRIBUTARY_ASSIGN(const Json last, last_round_json(*run, job));
  TRIBUTARY_ASSIGN(const std::optional<RoundDetail> detail, detail_of(*run, job, options.round));
  Json data = json_of(job, figures);
  data["codec"] = job.record.policy.codec;
  data["definition"] = definition_json(job.model->wire());
  data["last_round"] = last;
  data["mechanisms"] = detail ? mechanisms_json(*detail) : Json();
  data["reason"] = detail ? Json(detail->sentence) : Json();
  TRIBUTARY_ASSIGN(data["repeated_bytes"], repeated_json(*run, job));
  Answer answer;
  const auto line = [&](std::string_view what, const std::string& text) {
    answer.text += fmt::format("{:<14} {}\n", what, printable(text));
  };
  line("job", fmt::format("{} ({})", job.name(), job.record.job));
  line("state",
       job.state() + (job.record.state_reason.empty() ? "" : ": " + job.record.state_reason));
  line("rounds", fmt::format("{} of {}", job.rounds_committed, job.rounds()));
  line("accuracy", share_text(figures.accuracy));
  line("loss", std::isnan(figures.loss) ? "-" : fmt::format("{:.4f}", figures.loss));
  line("codec", job.record.policy.codec);
  for (const auto& [key, value] : data["definition"].items()) {
    line(key, value.is_string() ? value.get<std::string>() : value.dump());
  }
  if (!last.is_null()) {
    line("last round", fmt::format("{}, {} agents, {} bytes up, {} down",
                                   seconds_text(last["seconds"]), last["members"].dump(),
                                   count_text(last["bytes_up"]), count_text(last["bytes_down"])));
  }
  if (detail) {
    line("mechanisms",
         fmt::format("round {}: {}", detail->round, coordinator_mechanisms_text(*detail)));
    line("reason", detail->sentence);
    line("of agents", agents_mechanisms_text(*detail));
  }
  line("sent twice", repeated_text(data["repeated_bytes"]));
  answer.text += missing_line(missing, options.run_file);
  add_missing(missing, data);
  answer.data = json_text(data);
  return answer;
}

}  // namespace

Command job_list_command() {
  const auto options = std::make_shared<ShowOptions>();
  return {.noun = "job",
          .verb = "list",
          .summary = "list the jobs of a coordinator and their progress",
          .details =
              "Reads the journal, whether the coordinator runs or not.\n\n"
              "examples:\n"
              "  tributary job list\n"
              "  tributary job list --run coordinator.db --json",
          .options = {run_option(options->run_file)},
          .run = [options](World&) { return list(*options); }};
}

Command job_show_command() {
  const auto options = std::make_shared<ShowOptions>();
  return {.noun = "job",
          .verb = "show",
          .summary = "show the definition and the state of a job",
          .details =
              "examples:\n"
              "  tributary job show digits\n"
              "  tributary job show digits --round 7 --json",
          .options = {job_option(options->job),
                      run_option(options->run_file),
                      {.name = "--round",
                       .value_name = "N",
                       .help = "round whose mechanisms are shown (the last one)",
                       .accept = accept_count<std::uint64_t>(options->round, 1)}},
          .run = [options](World&) { return show(*options); }};
}

}  // namespace tributary
