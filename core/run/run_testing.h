// Writes a run into a coordinator's journal, for tests of its readers.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "core/base/clock.h"
#include "core/round/common/plan/mechanisms.h"
#include "core/run/run_frames_testing.h"
#include "core/store/coordinator/coordinator_journal.h"

namespace tributary::run_testing {

// Writes a run as a coordinator does, with its own clock.
class RunWriter {
 public:
  explicit RunWriter(const std::string& path) {
    auto opened = CoordinatorJournal::open(
        {.journal = {.path = path, .durability = Durability::stop, .clock = &clock_}});
    EXPECT_TRUE(opened.ok()) << opened.status().text();
    if (opened.ok()) journal_ = std::move(*opened);
  }

  // A reader of the test may be in a transaction; the log then remains.
  ~RunWriter() {
    if (journal_) ignore_error(journal_->close());
  }
  RunWriter(const RunWriter&) = delete;
  RunWriter& operator=(const RunWriter&) = delete;

  void job(std::uint64_t number = kJob, const std::string& name = "digits") {
    NewJobRecord record;
    record.job.job = record.checkpoint.job = number;
    record.job.definition = definition(name);
    store(record);
    store(EpochRecord{number, 1, 1, {{"a", 1}, {"b", 1}, {"c", 2}}});
  }

  // Adds a round of one second. If `late`, the third agent is a straggler. Two agents report.
  void round(std::uint64_t number, const PlanOptions& options = {}, bool late = false) {
    clock_.advance(std::chrono::seconds(1));
    CommitRecord commit;
    RoundRecord& round = commit.round;
    round.id = {kJob, number, 1, 0};
    round.members = 3;
    round.buckets = 2;
    round.began_at_ns = 7;
    round.committed_at_ns = 1'000'000'007;
    round.bytes_up = 300;
    round.bytes_down = 600;
    round.contributor_sets.push_back({{7}, 3, 3});
    round.contributor_sets.push_back({{3}, 2, 2});
    const std::uint32_t set = late ? 1 : 0;
    round.outcomes = {{0, set, 1}, {1, set, 2}};
    round.plan = plan(number, options);
    wire::RoundMechanismsT of_round;
    of_round.quorum = 2;
    if (late) add_to_tally(of_round.left_out, "c", 2);
    commit.mechanisms = pack_mechanisms(of_round);
    for (const std::string agent : {"a", "b"}) {
      AgentRoundRecord& report = commit.reports.emplace_back();
      report.id = round.id;
      report.agent_id = agent;
      report.loss = agent == "a" ? 2.0 / static_cast<double>(number)
                                 : std::numeric_limits<double>::quiet_NaN();
      report.compute_s = 0.25;
      report.encode_s = 0.05;
      report.wait_s = 0.5;
      report.residual_norm = 3;
      report.decode_s = 0.125;
      if (agent == "a") report.gain = 0.5;
      wire::MechanismsT facts;
      facts.values_encoded = agent == "a" ? 10 : 20;
      add_to_tally(facts.buckets_by_codec, "thc:bits=4", 2);
      if (agent == "a") {
        add_to_tally(facts.millibits_by_layer, "conv", 2500);
        add_to_tally(facts.millibits_by_layer, "fc", 0);
      }
      report.mechanisms = pack_mechanisms(facts);
      report.bytes_up = 150;
    }
    store(commit);
  }

  void agents(bool connected) {
    store(AgentRecords{{{.agent_id = "a",
                         .build = "0.1.0",
                         .device_model = "Orin Nano",
                         .connected = connected,
                         .job = kJob}}});
  }
  void metric(std::string_view name, std::uint64_t round, double value,
              const std::string& agent = "") {
    TelemetryRows rows;
    rows.metrics.push_back(
        {wall_time_ns(clock_),
         {.name = name, .value = value, .job = kJob, .round = round, .agent_id = agent}});
    add(rows);
  }
  void event(std::string_view name, const std::string& text) {
    TelemetryRows rows;
    rows.events.push_back({wall_time_ns(clock_),
                           {.level = LogLevel::warning, .name = name, .text = text, .job = kJob}});
    add(rows);
  }
  void link(const std::string& from, const std::string& to, double alpha_s, double beta) {
    TelemetryRows rows;
    rows.link_samples.push_back({.at_wall_ns = wall_time_ns(clock_),
                                 .from = from,
                                 .to = to,
                                 .method = wire::LinkMethod::passive,
                                 .alpha_s = alpha_s,
                                 .beta_s_per_byte = beta,
                                 .confidence = 1});
    add(rows);
  }

  void store(const CoordinatorRecord& record) { ASSERT_EQ(journal_->store(record).text(), "ok"); }
  void add(const TelemetryRows& rows) { ASSERT_EQ(journal_->add(rows).text(), "ok"); }
  CoordinatorJournal& journal() { return *journal_; }
  ManualClock& clock() { return clock_; }

 private:
  ManualClock clock_;
  std::unique_ptr<CoordinatorJournal> journal_;
};

}  // namespace tributary::run_testing
