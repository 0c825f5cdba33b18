// Writes the file of a long run through the real schema and in large transactions, for benchmarks.
// A real coordinator would need days for such a run.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/run/run_frames_testing.h"
#include "core/store/coordinator/coordinator_journal.h"

namespace tributary::run_testing {

// The size of the run.
struct BigRun {
  std::uint64_t rounds = 100'000;
  std::uint32_t agents = 32;
  std::uint32_t buckets = 16;
  std::uint64_t reports_max = 1'000'000;  // for the last rounds, as many as a journal keeps
  std::uint64_t evaluate_every = 1;
};

class BigRunWriter {
 public:
  explicit BigRunWriter(const BigRun& run) : run_(run) { make_plans(); }

  Status write(const std::string& path) {
    TRIBUTARY_ASSIGN(journal_, CoordinatorJournal::open(
                                   {.journal = {.path = path, .durability = Durability::stop}}));
    TRIBUTARY_TRY(write_job());
    TRIBUTARY_TRY(write_rounds());
    return journal_->close();
  }

 private:
  // Rounds per transaction.
  static constexpr std::uint64_t kRoundsAtOnce = 5000;
  // Duration of a round in ns.
  static constexpr std::int64_t kRoundNs = 1'500'000'000;

  Status write_job() {
    NewJobRecord record;
    record.job.job = record.checkpoint.job = kJob;
    record.job.definition = definition("digits");
    TRIBUTARY_TRY(journal_->store(record));
    AgentRecords agents;
    EpochRecord epoch = {.job = kJob, .epoch = 1, .first_round = 1, .members = {}};
    for (std::uint32_t i = 0; i < run_.agents; ++i) {
      agents.agents.push_back({.agent_id = fmt::format("agent-{:02}", i),
                               .build = "0.1.0",
                               .device_model = "Jetson Orin Nano",
                               .connected = true,
                               .job = kJob});
      epoch.members.push_back({.agent_id = agents.agents.back().agent_id, .weight = 1});
    }
    TRIBUTARY_TRY(journal_->store(epoch));
    return journal_->store(agents);
  }

  Status write_rounds() {
    const std::uint64_t reported = run_.reports_max / run_.agents;
    for (std::uint64_t first = 1; first <= run_.rounds; first += kRoundsAtOnce) {
      TRIBUTARY_ASSIGN(Transaction transaction, Transaction::begin(database()));
      const std::uint64_t end = std::min(run_.rounds + 1, first + kRoundsAtOnce);
      for (std::uint64_t round = first; round < end; ++round) {
        TRIBUTARY_TRY(write_round(round));
        if (round + reported > run_.rounds) TRIBUTARY_TRY(write_reports(round));
      }
      TRIBUTARY_TRY(transaction.commit());
    }
    return database().log().copy();
  }

  Database& database() { return journal_->database(); }
  std::int64_t date(std::uint64_t round) const {
    return began_wall_ns_ + static_cast<std::int64_t>(round) * kRoundNs;
  }

  // The frames of a decided plan and of an unchanged one, for each codec; write_round() cycles
  // through them.
  void make_plans() {
    const std::vector<std::string> codecs = {"fp32", "thc:bits=4", "topk:cr=0.1", "topk:cr=0.01"};
    const std::vector<double> ratios(run_.agents, 0.05);
    for (std::size_t i = 0; i < codecs.size(); ++i) {
      for (const bool decided : {false, true}) {
        plans_.push_back(plan(1, {.codec = codecs[i],
                                  .ratio = 1.0 / static_cast<double>(1 + i),
                                  .ratios = ratios,
                                  .members = run_.agents,
                                  .buckets = run_.buckets,
                                  .decided = decided}));
        codecs_.push_back(codecs[i] + ", raw");
      }
    }
    outcomes_.assign(std::size_t{16} * run_.buckets, 0);
    bits_.assign((run_.agents + 7) / 8, 0xff);
  }

  Status write_round(std::uint64_t round) {
    const std::int64_t at_ns = static_cast<std::int64_t>(round) * kRoundNs;
    TRIBUTARY_TRY(database().run(
        "INSERT INTO rounds (job, round, epoch, attempt, journal_entry, members, buckets, "
        "previous_hash, model_hash, began_at_ns, committed_at_ns, committed_wall_ns, bytes_up, "
        "bytes_down, outcomes) VALUES (?, ?, 1, 0, ?, ?, ?, 1, 2, ?, ?, ?, ?, ?, ?)",
        kJob, round, round, run_.agents, run_.buckets, at_ns - kRoundNs, at_ns, date(round),
        100'000 + round % 977, 200'000 + round % 577, outcomes_));
    const std::int64_t row = database().last_row_id();
    TRIBUTARY_TRY(
        database().run("INSERT INTO contributor_sets (round_row, place, contributors, divisor, "
                       "bits) VALUES (?, 0, ?, 1.0, ?)",
                       row, run_.agents, bits_));
    const std::size_t place = round / 700 % 4 * 2 + (round % 700 == 0 ? 1 : 0);
    TRIBUTARY_TRY(database().run(
        "INSERT INTO plans (round_row, trigger_name, sentence, codecs, collectives, quorum, "
        "deadline_ms, frame) VALUES (?, 'unchanged', 'as before', ?, 'star', 1, 500, ?)",
        row, codecs_[place], plans_[place]));
    if (round % run_.evaluate_every == 0) TRIBUTARY_TRY(write_metrics(round));
    if (round % 10 == 0) TRIBUTARY_TRY(write_others(round));
    return {};
  }

  Status write_metrics(std::uint64_t round) {
    const double accuracy = 1 - std::exp(-static_cast<double>(round) / 20'000);
    for (const char* const name : {"evaluation_accuracy", "evaluation_loss", "round_s"}) {
      TRIBUTARY_TRY(
          database().run("INSERT INTO metrics (at_wall_ns, name, value, job, round, agent_id) "
                         "VALUES (?, ?, ?, ?, ?, '')",
                         date(round), name, accuracy, kJob, round));
    }
    return {};
  }

  Status write_others(std::uint64_t round) {
    TRIBUTARY_TRY(database().run(
        "INSERT INTO events (at_wall_ns, level, name, reason, source, text, job, round) "
        "VALUES (?, 3, 'round_aborted', 'deadline', 'agent-07', 'the quorum was missed', ?, ?)",
        date(round), kJob, round));
    for (std::uint32_t agent = 0; agent < run_.agents; ++agent) {
      TRIBUTARY_TRY(
          database().run("INSERT INTO link_samples (at_wall_ns, from_id, to_id, method, alpha_s, "
                         "beta_s_per_byte, confidence) VALUES (?, ?, '', 1, 0.005, 1e-7, 0.9)",
                         date(round), fmt::format("agent-{:02}", agent)));
    }
    return {};
  }

  Status write_reports(std::uint64_t round) {
    for (std::uint32_t agent = 1; agent <= run_.agents; ++agent) {
      TRIBUTARY_TRY(database().run(
          "INSERT INTO agent_rounds (at_wall_ns, job, round, epoch, attempt, agent, loss, "
          "examples, compute_s, encode_s, wait_s, update_norm, residual_norm, bytes_up, "
          "bytes_down) VALUES (?, ?, ?, 1, 0, ?, 0.5, 32, 0.25, 0.01, 0.2, 1.5, 0.3, 3000, 6000)",
          date(round), kJob, round, agent));
    }
    return {};
  }

  std::unique_ptr<CoordinatorJournal> journal_;
  BigRun run_;
  std::int64_t began_wall_ns_ = 1'700'000'000'000'000'000;
  std::vector<SharedBytes> plans_;
  std::vector<std::string> codecs_;
  Bytes outcomes_;
  std::vector<std::uint8_t> bits_;
};

}  // namespace tributary::run_testing
