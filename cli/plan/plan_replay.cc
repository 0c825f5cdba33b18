// tributary plan replay: repeats the planner's decisions of a run from their stored inputs.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "cli/accept.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/run/job_journal.h"
#include "cli/run/missing_in_answer.h"
#include "cli/text.h"
#include "core/plan/decide.h"
#include "core/plan/inputs_text.h"
#include "core/store/coordinator/stored_frames.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kRoundsPage = 256;  // rounds read at a time
// Exit code if a decision differs, like that of a violated invariant in `sim run`.
constexpr int kDiffers = 60;

struct ReplayRequest {
  std::string run_file = usual_run_file();
  std::string job;  // empty: all jobs
};

// A decision from the journal, and the result of repeating it.
struct Replayed {
  std::string job = {};
  std::uint64_t round = 0;
  std::string codec;
  std::string collective;
  std::string reason;
  std::string now;  // the new decision if it differs; empty: the same
  double predicted_s = 0;
  std::vector<double> measured_s = {};  // of every round until the next decision

  bool same() const { return now.empty(); }
};

// The plan stores a ratio per member, the decision one per participant. A member that the planner
// did not know keeps the codec's own ratio. So only the set of values is compared.
bool same_ratios(const wire::Plan& plan, const PlanDecision& decision) {
  const auto* exchanges = plan.exchanges();
  const auto* planned_ratios =
      exchanges && exchanges->size() > 0 ? exchanges->Get(0)->ratios() : nullptr;
  if (!planned_ratios || planned_ratios->size() == 0) return decision.ratios.empty();
  return std::ranges::all_of(*planned_ratios, [&](double ratio) {
    return ratio == decision.chosen.choice.ratio ||
           std::ranges::find(decision.ratios, ratio) != decision.ratios.end();
  });
}

// Repeats the decision. Returns an empty text if it is the same, otherwise the new reason or error.
// Another wording of the reason is no difference, so that journals of earlier releases replay.
std::string differs(const wire::Plan& plan, const Replayed& stored) {
  const Result<PlanInputs> inputs = parse_plan_inputs(stored_inputs(plan));
  if (!inputs.ok()) return inputs.status().text();
  const Result<PlanDecision> decision = decide(*inputs);
  if (!decision.ok()) return decision.status().text();
  const PlanChoice& choice = decision->chosen.choice;
  const bool same = choice.codec == stored.codec &&
                    wire::EnumNameCollective(choice.collective) == stored.collective &&
                    decision->chosen.cost.round_s == stored.predicted_s &&
                    same_ratios(plan, *decision);
  return same ? "" : decision->reason;
}

// Empty for a round whose plan contains no decision: only the first plan of a decision has its
// inputs.
std::optional<Replayed> replay(const RoundRecord& record) {
  const wire::Plan* const plan = stored_plan(record.plan);
  if (!plan || stored_inputs(*plan).empty()) return {};
  const wire::Alternative* const chosen = stored_choice(*plan);
  if (!chosen) return {};
  Replayed replayed = {.round = record.id.round,
                       .codec = stored_text(chosen->codec()),
                       .collective = wire::EnumNameCollective(chosen->collective()),
                       .reason = stored_text(plan->reason()->sentence()),
                       .now = {},
                       .predicted_s = chosen->round_s()};
  replayed.now = differs(*plan, replayed);
  return replayed;
}

// One job, or all of them in the order of submission.
Result<std::vector<JobInJournal>> jobs_of(RunFile& run, const ReplayRequest& request) {
  if (request.job.empty()) return jobs_in(run);
  TRIBUTARY_ASSIGN(JobInJournal job, job_in(run, request.job));
  return std::vector<JobInJournal>{std::move(job)};
}

Result<std::vector<Replayed>> replay_job(RunFile& run, const JobInJournal& in_journal) {
  std::vector<Replayed> all;
  const std::uint64_t job = in_journal.record.job;
  TRIBUTARY_ASSIGN(const std::uint64_t last, run.last_round(job));
  for (std::uint64_t first = 1; first <= last; first += kRoundsPage) {
    TRIBUTARY_ASSIGN(const std::vector<RoundRecord> rounds,
                     run.rounds(job, first, std::min(last, first + kRoundsPage - 1)));
    for (const RoundRecord& record : rounds) {
      if (std::optional<Replayed> decision = replay(record)) {
        decision->job = in_journal.name();
        all.push_back(std::move(*decision));
      }
      // Rounds before the first decision belong to none.
      if (all.empty()) continue;
      const auto took_ns = static_cast<double>(record.committed_at_ns - record.began_at_ns);
      all.back().measured_s.push_back(took_ns / 1e9);
    }
  }
  return all;
}

// The upper median for an even number of values.
double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// `now` is empty for a decision that is the same again.
Json replay_json(const std::vector<Replayed>& all, std::size_t same) {
  Json decisions = Json::array();
  for (const Replayed& replayed : all) {
    decisions.push_back({{"job", replayed.job},
                         {"round", replayed.round},
                         {"codec", replayed.codec},
                         {"collective", replayed.collective},
                         {"reason", replayed.reason},
                         {"predicted_s", replayed.predicted_s},
                         {"rounds", replayed.measured_s.size()},
                         {"measured_s", median(replayed.measured_s)},
                         {"same", replayed.same()},
                         {"now", replayed.now}});
  }
  return {{"decisions", std::move(decisions)}, {"same", same}, {"different", all.size() - same}};
}

// One paragraph per decision, under a heading for each job.
std::string replay_text(const std::vector<Replayed>& all, std::size_t same) {
  std::string text;
  std::string job;
  for (const Replayed& replayed : all) {
    if (replayed.job != job) text += fmt::format("job {}\n", printable(replayed.job));
    job = replayed.job;
    text += fmt::format("round {}: {}\n", replayed.round, replayed.reason);
    text +=
        fmt::format("  {:.3f} s per round predicted, {:.3f} s in the median of {} rounds\n",
                    replayed.predicted_s, median(replayed.measured_s), replayed.measured_s.size());
    if (!replayed.same()) text += fmt::format("  now: {}\n", replayed.now);
  }
  return text + fmt::format("{} of {} decisions are the same again\n", same, all.size());
}

Result<Answer> replay_run(const ReplayRequest& request) {
  TRIBUTARY_ASSIGN(const std::unique_ptr<RunFile> run, RunFile::open(request.run_file));
  TRIBUTARY_ASSIGN(const MissingRounds missing, run->missing());
  TRIBUTARY_ASSIGN(const std::vector<JobInJournal> jobs, jobs_of(*run, request));
  std::vector<Replayed> all;
  for (const JobInJournal& job : jobs) {
    TRIBUTARY_ASSIGN(std::vector<Replayed> of_job, replay_job(*run, job));
    std::ranges::move(of_job, std::back_inserter(all));
  }
  const auto same = static_cast<std::size_t>(std::ranges::count_if(all, &Replayed::same));
  Json data = replay_json(all, same);
  add_missing(missing, data);
  return Answer{.text = replay_text(all, same) + missing_line(missing, request.run_file),
                .data = json_text(data),
                .exit_code = same == all.size() ? 0 : kDiffers};
}

}  // namespace

Command plan_replay_command() {
  const auto request = std::make_shared<ReplayRequest>();
  return {.noun = "plan",
          .verb = "replay",
          .summary = "repeat every decision of a run from its stored inputs",
          .details =
              "Reads the coordinator's journal, also while it runs. Ends with code 60 if a "
              "decision\n"
              "differs, for example with another release or on another machine.\n\n"
              "examples:\n"
              "  tributary plan replay run.db\n"
              "  tributary plan replay run.db --job digits --json",
          .options = {{.name = "FILE",
                       .value_name = "FILE",
                       .help = fmt::format("journal of the coordinator\n({})", usual_run_file()),
                       .accept = accept_file(request->run_file)},
                      {.name = "--job",
                       .value_name = "JOB",
                       .help = "only this job: name or number",
                       .accept =
                           [request](const std::string& value) {
                             request->job = value;
                             return Status();
                           }}},
          .run = [request](World&) { return replay_run(*request); }};
}

}  // namespace tributary
