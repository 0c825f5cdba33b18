#include "bench/dashboard/paced_run.h"

#include <fmt/format.h>

#include <cmath>
#include <thread>
#include <vector>

#include "core/run/run_frames_testing.h"

namespace tributary::bench {
namespace {

using run_testing::kJob;

constexpr std::chrono::nanoseconds kPacedStep =
    std::chrono::nanoseconds(1'000'000'000) / kPacedRoundsPerS;

std::string paced_agent(std::uint32_t index) { return fmt::format("agent-{:03}", index); }

// The record of a round: all agents contribute, and every hundredth plan is a new decision.
CommitRecord paced_commit(std::uint64_t number) {
  CommitRecord commit;
  RoundRecord& round = commit.round;
  round.id = {kJob, number, 1, 0};
  round.members = kPacedAgents;
  round.buckets = 2;
  round.began_at_ns = static_cast<std::int64_t>(number) * kPacedStep.count();
  round.committed_at_ns = round.began_at_ns + kPacedStep.count();
  round.bytes_up = 100'000 + number % 977;
  round.bytes_down = 200'000 + number % 577;
  round.contributor_sets.push_back(
      {std::vector<std::uint8_t>((kPacedAgents + 7) / 8, 0xff), kPacedAgents, 1.0 * kPacedAgents});
  round.contributor_sets.back().bits.back() = 0x0f;
  round.outcomes = {{0, 0, 1}, {1, 0, 2}};
  const bool decides = number % 100 == 1;
  round.plan = run_testing::plan(
      number, {.codec = number / 100 % 2 == 0 ? "topk:cr=0.1" : "thc:bits=4",
               .ratio = number / 100 % 2 == 0 ? 0.1 : 1,
               .trigger = decides ? wire::Trigger::link_changed : wire::Trigger::unchanged,
               .ratios = std::vector<double>(kPacedAgents, 0.1),
               .members = kPacedAgents,
               .decided = decides});
  for (std::uint32_t agent = 0; agent < kPacedAgents; ++agent) {
    AgentRoundRecord& report = commit.reports.emplace_back();
    report.id = round.id;
    report.agent_id = paced_agent(agent);
    report.loss = 2 * std::exp(-static_cast<double>(number) / 5000) + 0.001 * agent;
    report.examples = 32;
    report.compute_s = 0.04 + 0.0001 * static_cast<double>((number + agent) % 50);
    report.encode_s = 0.005;
    report.wait_s = 0.03;
    report.decode_s = 0.004;
    report.gain = 0.6;
    report.residual_norm = 0.3;
    report.update_norm = 1.5;
    report.bytes_up = 1000;
    report.bytes_down = 2000;
  }
  return commit;
}

// Each link is measured once per second, so each round contains a tenth of the agents.
TelemetryRows paced_telemetry(std::uint64_t number, std::int64_t at_ns) {
  TelemetryRows rows;
  const double accuracy = 1 - std::exp(-static_cast<double>(number) / 5000);
  for (const std::string_view name : {"evaluation_accuracy", "evaluation_loss", "round_s"}) {
    rows.metrics.push_back(
        {at_ns, {.name = name, .value = accuracy, .job = kJob, .round = number}});
  }
  // Metrics that a coordinator writes in every round.
  for (const std::string_view name :
       {"up_updates_bytes", "down_aggregates_bytes", "down_plans_bytes", "up_commits_bytes",
        "down_commits_bytes", "up_reports_bytes", "up_control_bytes", "down_control_bytes"}) {
    rows.metrics.push_back({at_ns,
                            {.name = name,
                             .value = 1000.0 + static_cast<double>(number % 97),
                             .job = kJob,
                             .round = number}});
  }
  for (std::uint32_t agent = 0; agent < kPacedAgents; ++agent) {
    if (agent % kPacedRoundsPerS != number % kPacedRoundsPerS) continue;
    rows.link_samples.push_back({.at_wall_ns = at_ns,
                                 .from = paced_agent(agent),
                                 .to = "",
                                 .method = wire::LinkMethod::passive,
                                 .alpha_s = 0.005,
                                 .beta_s_per_byte = 1e-7 * (1 + static_cast<double>(number % 100)),
                                 .confidence = 1});
  }
  if (number % 50 == 0) {
    rows.events.push_back({at_ns,
                           {.level = LogLevel::warning,
                            .name = "round_aborted",
                            .reason = "deadline",
                            .text = "the quorum was missed",
                            .job = kJob,
                            .round = number}});
  }
  return rows;
}

}  // namespace

Result<std::unique_ptr<PacedRun>> PacedRun::begin(const std::string& path) {
  auto run = std::make_unique<PacedRun>();
  TRIBUTARY_ASSIGN(
      run->journal_,
      CoordinatorJournal::open(
          {.journal = {.path = path, .durability = Durability::stop, .clock = &run->dates_}}));
  TRIBUTARY_TRY(run->write_job());
  return run;
}

Status PacedRun::write_job() {
  NewJobRecord record;
  record.job.job = record.checkpoint.job = kJob;
  record.job.definition = run_testing::definition("digits");
  TRIBUTARY_TRY(journal_->store(record));
  EpochRecord epoch = {.job = kJob, .epoch = 1, .first_round = 1, .members = {}};
  AgentRecords agents;
  for (std::uint32_t i = 0; i < kPacedAgents; ++i) {
    epoch.members.push_back({.agent_id = paced_agent(i), .weight = 1});
    agents.agents.push_back({.agent_id = paced_agent(i),
                             .build = "0.1.0",
                             .device_model = "Jetson Orin Nano",
                             .connected = true,
                             .job = kJob});
  }
  TRIBUTARY_TRY(journal_->store(epoch));
  return journal_->store(agents);
}

Status PacedRun::write(std::uint64_t rounds, bool paced) {
  auto due = std::chrono::steady_clock::now();
  for (std::uint64_t number = 1; number <= rounds; ++number) {
    if (paced) std::this_thread::sleep_until(due += kPacedStep);
    dates_.advance(kPacedStep);
    TRIBUTARY_TRY(write_round(number));
  }
  return {};
}

Status PacedRun::write_round(std::uint64_t number) {
  TRIBUTARY_TRY(journal_->store(paced_commit(number)));
  return journal_->add(paced_telemetry(number, wall_time_ns(dates_)));
}

}  // namespace tributary::bench
