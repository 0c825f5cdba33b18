#include "cli/demo_outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>
#include <utility>

#include "core/round/job_model.h"
#include "core/store/agent_journal.h"
#include "schemas/frame.h"

namespace tributary {
namespace {

constexpr std::uint64_t kAllRounds = std::numeric_limits<std::uint64_t>::max() >> 1;
constexpr std::uint32_t kRowsMax = 10'000;

// Of the coordinator's test set: the metric that no agent's name stands on.
Status read_accuracy(RunFile& run, std::uint64_t job, std::int64_t& last, double& accuracy) {
  while (true) {
    TRIBUTARY_ASSIGN(const auto rows, run.metrics("evaluation_accuracy", last, kRowsMax));
    if (rows.empty()) return {};
    for (const StoredMetric& row : rows) {
      last = row.number;
      if (row.job == job && row.agent_id.empty()) accuracy = row.value;
    }
  }
}

Result<wire::PlanT> plan_of(const RoundRecord& round) {
  TRIBUTARY_ASSIGN(const wire::Frame* frame, open_frame(*round.plan));
  const wire::Plan* plan = frame->message_as_Plan();
  if (!plan) return Status(StatusCode::corrupt_data, {.what = "stored plan"});
  wire::PlanT unpacked;
  plan->UnPackTo(&unpacked);
  return unpacked;
}

// The codec and the collective that most values of a round were exchanged by.
std::pair<std::string, std::string> exchange_of(const wire::PlanT& plan) {
  std::vector<std::uint64_t> values(plan.exchanges.size());
  for (const auto& bucket : plan.buckets) values[bucket->exchange] += bucket->values;
  const auto most = std::ranges::max_element(values);
  if (most == values.end()) return {};
  const wire::ExchangeT& exchange =
      *plan.exchanges[static_cast<std::size_t>(most - values.begin())];
  return {exchange.codec, wire::EnumNameCollective(exchange.collective)};
}

// What everybody's float32 would have been: up from each contributor, down to each participant.
std::uint64_t dense_bytes(const RoundRecord& round, const wire::PlanT& plan) {
  std::uint64_t values = 0;
  for (const OutcomeRecord& outcome : round.outcomes) {
    const std::uint64_t contributors =
        round.contributor_sets[outcome.contributor_set].contributors;
    values += plan.buckets[outcome.bucket]->values * (contributors + round.members);
  }
  return values * sizeof(float);
}

Status add_round(const RoundRecord& round, std::string& before, DemoOutcome& outcome) {
  outcome.rounds += 1;
  outcome.bytes_up += round.bytes_up;
  outcome.bytes_down += round.bytes_down;
  if (!round.plan) return {};
  TRIBUTARY_ASSIGN(const wire::PlanT plan, plan_of(round));
  outcome.bytes_dense += dense_bytes(round, plan);
  const auto [codec, collective] = exchange_of(plan);
  ++outcome.codecs[codec];
  ++outcome.collectives[collective];
  std::string now = codec + " by " + collective;
  if (!before.empty() && now != before) {
    outcome.switches.push_back({.round = round.id.round,
                                .from = before,
                                .to = now,
                                .reason = plan.reason ? plan.reason->sentence : std::string()});
  }
  before = std::move(now);
  return {};
}

Status read_replicas(const DemoFederation& federation, std::uint64_t model_hash,
                     DemoOutcome& outcome) {
  outcome.replicas_identical = true;
  for (std::uint32_t i = 0; i < federation.plan().agents; ++i) {
    TRIBUTARY_ASSIGN(const auto journal,
                     AgentJournal::open({.path = federation.agent_file(i), .sync = false}));
    TRIBUTARY_ASSIGN(const AgentState state, journal->restore());
    const bool same = state.replica && state.replica->model_hash == model_hash &&
                      model_hash_of(*state.replica->model) == model_hash;
    outcome.replicas_identical = outcome.replicas_identical && same;
  }
  return {};
}

// Each agent's last word on its account.
std::optional<double> conservation_error(const DemoFederation& federation) {
  constexpr std::string_view kHolds = "error_of_bound=";
  double worst = 0;
  for (std::uint32_t i = 0; i < federation.plan().agents; ++i) {
    const std::string log = federation.agent_log(i);
    const std::size_t at = log.rfind(kHolds);
    if (log.find("conservation violated") != log.npos) return HUGE_VAL;
    if (at == log.npos) return std::nullopt;
    worst = std::max(worst, std::strtod(log.c_str() + at + kHolds.size(), nullptr));
  }
  return worst;
}

}  // namespace

DemoProgress DemoWatch::look() {
  if (!read().ok()) run_.reset();  // it is being made, or locked: next time
  return seen_;
}

Status DemoWatch::read() {
  if (!run_) {
    TRIBUTARY_ASSIGN(run_, RunFile::open(file_));
  }
  if (job_ == 0) {
    TRIBUTARY_ASSIGN(const auto jobs, run_->jobs());
    if (jobs.empty()) return {};
    job_ = jobs.front().job;
  }
  TRIBUTARY_ASSIGN(const auto rounds, run_->rounds(job_, seen_.rounds + 1, kAllRounds));
  if (!rounds.empty()) {
    seen_.rounds = rounds.back().id.round;
    seen_.bytes_per_round = rounds.back().bytes_up + rounds.back().bytes_down;
  }
  return read_accuracy(*run_, job_, last_metric_, seen_.accuracy);
}

Result<DemoOutcome> read_outcome(const DemoFederation& federation) {
  DemoOutcome outcome;
  outcome.run_file = federation.run_file();
  TRIBUTARY_ASSIGN(const auto run, RunFile::open(outcome.run_file));
  TRIBUTARY_ASSIGN(const auto jobs, run->jobs());
  if (jobs.empty()) return Status(StatusCode::not_found, {.what = "the job in the journal"});
  const std::uint64_t job = jobs.front().job;
  TRIBUTARY_ASSIGN(const auto rounds, run->rounds(job, 1, kAllRounds));
  if (rounds.empty()) return Status(StatusCode::not_found, {.what = "a committed round"});
  std::string before;
  for (const RoundRecord& round : rounds) TRIBUTARY_TRY(add_round(round, before, outcome));
  std::int64_t last = 0;
  TRIBUTARY_TRY(read_accuracy(*run, job, last, outcome.accuracy));
  TRIBUTARY_TRY(read_replicas(federation, rounds.back().model_hash, outcome));
  outcome.conservation_error = conservation_error(federation);
  return outcome;
}

std::string rounds_text(const std::map<std::string, std::uint64_t>& rounds) {
  std::string text;
  for (const auto& [name, count] : rounds) {
    text += fmt::format("{}{} in {} rounds", text.empty() ? "" : ", ", name, count);
  }
  return text;
}

}  // namespace tributary
