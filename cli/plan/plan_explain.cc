// tributary plan explain: shows the belief behind a decision of a run, and what came of it.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/accept.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/plan/explained_decision.h"
#include "cli/run/job_journal.h"
#include "cli/run/missing_in_answer.h"
#include "core/plan/explain.h"
#include "core/plan/inputs_text.h"
#include "core/store/coordinator/stored_frames.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kRoundsStep = 64;  // rounds read at a time

struct ExplainRequest {
  std::string run_file = usual_run_file();
  std::string job;          // empty: the one submitted last
  std::uint64_t round = 0;  // 0: the last
};

bool has_decision(const RoundRecord& record) {
  const wire::Plan* const plan = stored_plan(record.plan);
  return plan && !stored_inputs(*plan).empty() && stored_choice(*plan);
}

double round_seconds(const RoundRecord& record) {
  return static_cast<double>(record.committed_at_ns - record.began_at_ns) / 1e9;
}

// The rounds of one decision.
struct RoundsOfDecision {
  std::optional<RoundRecord> decision;
  std::optional<RoundRecord> next;  // the next decision
  std::vector<double> measured_s;
};

// Reads back from `round` to the decision, and forward to the next one.
Result<RoundsOfDecision> rounds_of_decision(RunFile& run, std::uint64_t job, std::uint64_t round,
                                            std::uint64_t last) {
  RoundsOfDecision found;
  for (std::uint64_t end = round; end > 0 && !found.decision;) {
    const std::uint64_t first = end > kRoundsStep ? end - kRoundsStep + 1 : 1;
    TRIBUTARY_ASSIGN(std::vector<RoundRecord> records, run.rounds(job, first, end));
    const auto decided = std::find_if(records.rbegin(), records.rend(), has_decision);
    if (decided != records.rend()) found.decision = std::move(*decided);
    end = first - 1;
  }
  if (!found.decision) return found;
  found.measured_s.push_back(round_seconds(*found.decision));
  for (std::uint64_t first = found.decision->id.round + 1; first <= last; first += kRoundsStep) {
    TRIBUTARY_ASSIGN(std::vector<RoundRecord> records,
                     run.rounds(job, first, std::min(last, first + kRoundsStep - 1)));
    for (RoundRecord& record : records) {
      if (has_decision(record)) {
        found.next = std::move(record);
        return found;
      }
      found.measured_s.push_back(round_seconds(record));
    }
  }
  return found;
}

// The planner decides after its first measurements.
Status no_decision(const JobInJournal& job, std::uint64_t round, std::uint64_t last) {
  const bool fixed = !job.record.policy.planning.planned();
  return Status(
      StatusCode::not_found,
      {.what = fmt::format("round {} of job '{}'", round, job.name()),
       .expected = "a decision of the planner in this round or an earlier one",
       .got = fixed ? "a job with planning = \"fixed\", which decides nothing" : "no decision yet",
       .remedy = fixed          ? "submit the job with planning = \"adaptive\""
                 : round < last ? "name a later round"
                 : job.over()   ? "run more rounds"
                                : "wait for more rounds"});
}

Status no_such_round(const JobInJournal& job, std::uint64_t round, std::uint64_t last,
                     const std::string& missing) {
  return Status(StatusCode::not_found,
                {.what = fmt::format("round {} of job '{}'", round, job.name()),
                 .expected = last > 0 ? fmt::format("a committed round, 1 to {}", last)
                                      : std::string("a committed round"),
                 .got = last > 0 ? "no such round" : "a job without a committed round",
                 .remedy = missing});
}

Result<JobInJournal> job_of(RunFile& run, const ExplainRequest& request) {
  if (!request.job.empty()) return job_in(run, request.job);
  TRIBUTARY_ASSIGN(std::vector<JobInJournal> jobs, jobs_in(run));
  if (jobs.empty()) {
    return Status(StatusCode::not_found,
                  {.what = request.run_file, .expected = "a job", .got = "a run without a job"});
  }
  return std::move(jobs.back());
}

// The choice that the plan contains. Its buckets are equally large, but for rounding to layers.
PlanChoice choice_of(const RoundRecord& record, const PlanInputs& inputs) {
  const wire::Alternative& chosen = *stored_choice(*stored_plan(record.plan));
  const std::uint64_t buckets = std::max<std::uint64_t>(record.buckets, 1);
  return {.codec = stored_text(chosen.codec()),
          .collective = chosen.collective(),
          .ratio = chosen.ratio(),
          .bucket_values = (inputs.values + buckets - 1) / buckets};
}

// The next decision's inputs name the choice that was in force, in full.
Status judge(const RoundsOfDecision& rounds, ExplainedDecision& explained) {
  if (!rounds.next) {
    explained.no_hindsight = "no later decision has stored a belief";
    return {};
  }
  explained.next_decision = rounds.next->id.round;
  TRIBUTARY_ASSIGN(const PlanInputs later,
                   parse_plan_inputs(stored_inputs(*stored_plan(rounds.next->plan))));
  const PlanChoice used =
      later.before ? later.before->choice : explained.belief.candidates.front().option.choice;
  TRIBUTARY_ASSIGN(explained.hindsight, hindsight(later, used));
  if (!explained.hindsight) {
    explained.no_hindsight = later.policy.goal == wire::PlanGoal::time_budget
                                 ? "with a time budget, time saved is no progress"
                                 : "the next decision could not use this choice any more";
  }
  return {};
}

Result<Answer> explain_round(const ExplainRequest& request) {
  TRIBUTARY_ASSIGN(const std::unique_ptr<RunFile> run, RunFile::open(request.run_file));
  TRIBUTARY_ASSIGN(const MissingRounds missing, run->missing());
  TRIBUTARY_ASSIGN(const JobInJournal job, job_of(*run, request));
  TRIBUTARY_ASSIGN(const std::uint64_t last, run->last_round(job.record.job));
  const std::uint64_t round = request.round > 0 ? request.round : last;
  if (round > last || round == 0) {
    return no_such_round(job, round, last, missing.text(request.run_file));
  }
  TRIBUTARY_ASSIGN(const RoundsOfDecision rounds,
                   rounds_of_decision(*run, job.record.job, round, last));
  if (!rounds.decision) return no_decision(job, round, last);
  const wire::Plan& plan = *stored_plan(rounds.decision->plan);
  TRIBUTARY_ASSIGN(const PlanInputs inputs, parse_plan_inputs(stored_inputs(plan)));
  ExplainedDecision explained = {.job = job.name(),
                                 .round = round,
                                 .decided_in = rounds.decision->id.round,
                                 .trigger = wire::EnumNameTrigger(plan.reason()->trigger()),
                                 .reason = stored_text(plan.reason()->sentence()),
                                 .measured_s = rounds.measured_s};
  TRIBUTARY_ASSIGN(explained.belief, explain(inputs, choice_of(*rounds.decision, inputs)));
  TRIBUTARY_TRY(judge(rounds, explained));
  Json data = explained_json(explained);
  add_missing(missing, data);
  return Answer{.text = explained_text(explained) + missing_line(missing, request.run_file),
                .data = json_text(data)};
}

}  // namespace

Command plan_explain_command() {
  const auto request = std::make_shared<ExplainRequest>();
  return {.noun = "plan",
          .verb = "explain",
          .summary = "show what was believed at a decision, and what came of it",
          .details =
              "Reads the coordinator's journal, also while it runs. Prints the links' rates with\n"
              "the range that holds them with 90 %, what was expected of each choice, the\n"
              "measured rounds, and the regret by the belief of the next decision.\n\n"
              "examples:\n"
              "  tributary plan explain run.db --round 40\n"
              "  tributary plan explain run.db --round 40 --job digits --json",
          .options = {{.name = "FILE",
                       .value_name = "FILE",
                       .help = fmt::format("journal of the coordinator\n({})", usual_run_file()),
                       .accept = accept_file(request->run_file)},
                      {.name = "--round",
                       .value_name = "N",
                       .help = "the round whose decision is explained (the last)",
                       .accept = accept_count(request->round, std::uint64_t{1})},
                      {.name = "--job",
                       .value_name = "JOB",
                       .help = "this job: name or number (submitted last)",
                       .accept = accept_text(request->job)}},
          .run = [request](World&) { return explain_round(*request); }};
}

}  // namespace tributary
