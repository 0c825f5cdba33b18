#include "cli/demo/demo_outcome.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "cli/run/job_journal.h"
#include "core/round/common/plan/job_model.h"
#include "core/run/run_changes.h"
#include "core/store/agent/agent_journal.h"
#include "core/store/coordinator/readable.h"

namespace tributary {
namespace {

// SQLite integers are signed.
constexpr std::uint64_t kAllRounds = std::numeric_limits<std::uint64_t>::max() >> 1;

// Opens the agents' own journals after they have ended: the proof does not rely on what agents
// report.
Status read_replicas(const DemoFederation& federation, std::uint64_t model_hash,
                     DemoOutcome& outcome) {
  outcome.replicas_identical = true;
  for (std::uint32_t i = 0; i < federation.plan().agents; ++i) {
    TRIBUTARY_ASSIGN(const auto journal, AgentJournal::open({.path = federation.agent_file(i),
                                                             .durability = Durability::stop}));
    TRIBUTARY_ASSIGN(const AgentState state, journal->restore());
    // The stored hash and the hash of the stored values must both match.
    const bool same = state.replica && state.replica->model_hash == model_hash &&
                      model_hash_of(*state.replica->model) == model_hash;
    outcome.replicas_identical = outcome.replicas_identical && same;
  }
  return {};
}

// Reads the last audit line of each agent's log and returns the largest error.
std::optional<double> conservation_error(const DemoFederation& federation) {
  constexpr std::string_view kHolds = "error_of_bound=";
  double worst = 0;
  for (std::uint32_t i = 0; i < federation.plan().agents; ++i) {
    const std::string log = federation.agent_log(i);
    const std::size_t at = log.rfind(kHolds);
    if (log.find("conservation violated") != log.npos) {
      return std::numeric_limits<double>::max();  // JSON has no infinity
    }
    if (at == log.npos) return std::nullopt;
    worst = std::max(worst, std::strtod(log.c_str() + at + kHolds.size(), nullptr));
  }
  return worst;
}

}  // namespace

DemoProgress DemoWatch::look() {
  seen_.switches.clear();
  // While the file is being created or is locked it cannot be read; the next call tries again.
  if (!read().ok()) run_.reset();
  return seen_;
}

// A plan that this build cannot read changes nothing, so the next readable one is compared with the
// last readable one.
void DemoWatch::note_switch(const RoundRecord& round) {
  const ReadablePlan plan = readable_plan(round.plan);
  if (!plan.codecs || !plan.collectives) return;
  std::string choice = *plan.codecs + " by " + *plan.collectives;
  if (!choice_.empty() && choice != choice_) {
    seen_.switches.push_back({.round = round.id.round,
                              .from = choice_,
                              .to = choice,
                              .reason = plan.sentence.value_or("no reason stored")});
  }
  choice_ = std::move(choice);
}

Status DemoWatch::read() {
  if (!run_) {
    TRIBUTARY_ASSIGN(run_, RunFile::open(file_));
  }
  // A demonstration has one job, but the coordinator may not have stored it yet.
  if (job_ == 0) {
    TRIBUTARY_ASSIGN(const auto jobs, run_->jobs());
    if (jobs.empty()) return {};
    job_ = jobs.front().job;
  }
  TRIBUTARY_ASSIGN(const auto rounds, run_->rounds(job_, seen_.rounds + 1, kAllRounds));
  for (const RoundRecord& round : rounds) note_switch(round);
  if (!rounds.empty()) {
    seen_.rounds = rounds.back().id.round;
    seen_.bytes_per_round = rounds.back().bytes_up + rounds.back().bytes_down;
  }
  TRIBUTARY_ASSIGN(const double accuracy,
                   newest_metric(*run_, kAccuracyMetric, job_, last_metric_));
  if (!std::isnan(accuracy)) seen_.accuracy = accuracy;
  return {};
}

Result<DemoOutcome> read_outcome(const DemoFederation& federation,
                                 const std::vector<report::PagePicture>& pictures) {
  DemoOutcome outcome;
  TRIBUTARY_ASSIGN(outcome.report, report::write_report({.run_file = federation.run_file(),
                                                         .folder = federation.report_folder(),
                                                         .pictures = pictures}));
  TRIBUTARY_ASSIGN(const auto run, RunFile::open(federation.run_file()));
  const report::RunFigures& figures = outcome.report.figures;
  // The last committed round has the hash of the final model.
  TRIBUTARY_ASSIGN(const auto last, run->rounds(figures.job, figures.rounds, figures.rounds));
  if (last.empty()) return Status(StatusCode::not_found, {.what = "a committed round"});
  TRIBUTARY_TRY(read_replicas(federation, last.front().model_hash, outcome));
  outcome.conservation_error = conservation_error(federation);
  return outcome;
}

}  // namespace tributary
