// Journals in memory, for tests. They store records as core/store does, without a disk, and check
// that the records arrive in an order from which a journal can be restored.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/round/common/machine/records.h"

namespace tributary::sim_testing {

// Keeps all commits, so that tests can read them after a checkpoint too.
class MemoryCoordinatorJournal {
 public:
  void apply(const CoordinatorRecord& record) {
    std::visit([this](const auto& one) { keep(one); }, record);
  }
  CoordinatorState state() const {
    CoordinatorState state;
    for (const std::uint64_t job : order_) state.jobs.push_back(jobs_.at(job));
    return state;
  }
  // All commits in their order.
  const std::vector<CommitRecord>& commits() const { return commits_; }
  std::optional<RoundRecord> round(std::uint64_t number) const {
    for (const CommitRecord& commit : commits_) {
      if (commit.round.id.round == number) return commit.round;
    }
    return std::nullopt;
  }
  // The results of one bucket; empty if a checkpoint has replaced them.
  std::vector<RedoPayload> results(std::uint64_t number, std::uint32_t bucket) const {
    std::vector<RedoPayload> results;
    if (number < redo_from_ || number > commits_.size()) return results;
    std::ranges::copy_if(commits_[number - 1].redo, std::back_inserter(results),
                         [&](const RedoPayload& redo) { return redo.bucket == bucket; });
    return results;
  }
  std::optional<EpochRecord> epoch(std::uint32_t number) const {
    for (const EpochRecord& epoch : epochs_) {
      if (epoch.epoch == number) return epoch;
    }
    return std::nullopt;
  }
  const std::map<std::string, AgentRecord>& agents() const { return agents_; }

 private:
  void keep(const NewJobRecord& record) {
    order_.push_back(record.job.job);
    RestoredJob& job = jobs_[record.job.job];
    job.job = record.job;
    job.checkpoint = record.checkpoint;
  }
  void keep(const JobRecord& record) { jobs_[record.job].job = record; }
  // An epoch's number must never be reused, because round keys contain it.
  void keep(const EpochRecord& record) {
    RestoredJob& job = jobs_[record.job];
    EXPECT_GT(record.epoch, job.last_epoch) << "an epoch's number is given twice";
    job.epochs.push_back(record);
    job.last_epoch = record.epoch;
    epochs_.push_back(record);
  }
  // A checkpoint replaces the redo log, as in core/store.
  void keep(const CommitRecord& record) {
    RestoredJob& job = jobs_[record.round.id.job];
    EXPECT_EQ(record.round.id.round, commits_.size() + 1)
        << "a round is committed twice or left out";
    commits_.push_back(record);
    job.facts.push_back({record.round.id.round, record.mechanisms});
    if (job.facts.size() > kFactsRestored) job.facts.erase(job.facts.begin());
    if (record.aggregator_residual) job.aggregator_residual = record.aggregator_residual;
    job.redo.push_back(record);
    if (!record.checkpoint) return;
    job.checkpoint = *record.checkpoint;
    redo_from_ = record.checkpoint->redo_from > 0 ? record.checkpoint->redo_from
                                                  : record.checkpoint->model_version + 1;
    for (CommitRecord& commit : job.redo) job.history.push_back(std::move(commit.round));
    job.redo.clear();
  }
  void keep(const AgentRecords& records) {
    for (const AgentRecord& agent : records.agents) agents_[agent.agent_id] = agent;
  }

  std::vector<std::uint64_t> order_;
  std::map<std::uint64_t, RestoredJob> jobs_;
  std::vector<CommitRecord> commits_;
  std::uint64_t redo_from_ = 1;
  std::vector<EpochRecord> epochs_;
  std::map<std::string, AgentRecord> agents_;
};

// The journal of an agent. A record of another job discards the state of the previous one.
class MemoryAgentJournal {
 public:
  void apply(const AgentRecordToStore& record) {
    std::visit([this](const auto& one) { keep(one); }, record);
  }
  AgentState state;

 private:
  void keep(const AgentJobRecord& record) {
    if (!state.job || state.job->job != record.job) {
      state.replica.reset();
      state.undecided.clear();
    }
    if (state.download && state.download->job != record.job) state.download.reset();
    state.job = record;
  }
  // A stored replica settles all contributions except those that it lists.
  void keep(const ReplicaRecord& record) {
    const std::optional<ReplicaRecord> before = std::exchange(state.replica, record);
    if (!record.model) {
      ASSERT_TRUE(before) << "no replica is stored";
      state.replica->model_version = before->model_version;
      state.replica->model_hash = before->model_hash;
      state.replica->model = before->model;
      state.replica->rule_state = before->rule_state;
    }
    state.download.reset();
    std::erase_if(state.undecided, [&](const UndecidedRound& round) {
      return std::ranges::find(record.undecided, round.id) == record.undecided.end();
    });
  }
  // A contribution is stored before the agent reports it. A later record of a bucket replaces an
  // earlier one.
  void keep(const ContributionRecord& record) {
    if (record.residual) {
      state.replica->residual = record.residual;
      state.replica->residual_stamp = record.residual_stamp;
    }
    if (record.parts.empty()) return;
    auto found = std::ranges::find(state.undecided, record.id, &UndecidedRound::id);
    if (found == state.undecided.end()) {
      state.undecided.push_back({.id = record.id, .agent_index = record.agent_index, .parts = {}});
      found = std::prev(state.undecided.end());
    }
    found->stamp = record.residual_stamp;
    for (const ContributionPart& part : record.parts) {
      std::erase_if(found->parts, [&](const auto& p) { return p.bucket == part.bucket; });
      found->parts.push_back(part);
    }
  }
  // Downloads are stored in runs of consecutive bytes.
  void keep(const DownloadRecord& record) {
    if (record.offset == 0) {
      state.download = {
          .job = record.job, .hash = record.hash, .bytes = record.bytes, .received = {}};
    }
    ASSERT_TRUE(state.download) << "a download does not begin at offset 0";
    EXPECT_TRUE(state.download->job == record.job && state.download->hash == record.hash &&
                state.download->bytes == record.bytes)
        << "a run is of another download than the one before";
    Bytes& received = state.download->received;
    ASSERT_EQ(record.offset, received.size()) << "a run does not begin where the one before ended";
    if (record.data) received.insert(received.end(), record.data->begin(), record.data->end());
    EXPECT_LE(received.size(), record.bytes);
  }
};

}  // namespace tributary::sim_testing
