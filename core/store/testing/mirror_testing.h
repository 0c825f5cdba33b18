// Specifies what a journal must return: an implementation of core/round/common/machine/records.h in
// memory, without a database.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/round/common/machine/records.h"

namespace tributary::store_testing {

// Keeps the records of a coordinator and computes the state to restore.
class CoordinatorMirror {
 public:
  explicit CoordinatorMirror(std::uint64_t history_rounds_max = 256)
      : history_rounds_max_(history_rounds_max) {}

  void store(const CoordinatorRecord& record) {
    std::visit([&](const auto& kind) { put(kind); }, record);
  }

  CoordinatorState state() const {
    CoordinatorState state;
    for (const Course& course : courses_) state.jobs.push_back(restored(course));
    return state;
  }

  const std::map<std::uint64_t, RoundRecord>& rounds(std::uint64_t job) { return of(job).rounds; }

 private:
  struct Course {
    RestoredJob job;
    std::map<std::uint64_t, RoundRecord> rounds;
    std::map<std::uint32_t, EpochRecord> epochs;
  };

  void put(const NewJobRecord& record) {
    Course& course = courses_.emplace_back();
    course.job.job = record.job;
    course.job.checkpoint = record.checkpoint;
  }
  void put(const JobRecord& record) { of(record.job).job.job = record; }
  void put(const EpochRecord& record) {
    Course& course = of(record.job);
    course.epochs[record.epoch] = record;
    course.job.last_epoch = std::max(course.job.last_epoch, record.epoch);
  }
  void put(const CommitRecord& record) {
    Course& course = of(record.round.id.job);
    course.rounds[record.round.id.round] = record.round;
    course.job.facts.push_back({record.round.id.round, record.mechanisms});
    if (course.job.facts.size() > kFactsRestored) course.job.facts.erase(course.job.facts.begin());
    CommitRecord& commit = course.job.redo.emplace_back();
    commit.round = record.round;
    commit.redo = record.redo;
    if (record.aggregator_residual) course.job.aggregator_residual = record.aggregator_residual;
    if (!record.checkpoint) return;
    course.job.checkpoint = *record.checkpoint;
    std::erase_if(course.job.redo, [&](const CommitRecord& each) {
      return each.round.id.round <= record.checkpoint->model_version;
    });
  }
  void put(const AgentRecords&) {}

  // Applies the rules for history and epochs to everything that was stored.
  RestoredJob restored(const Course& course) const {
    RestoredJob job = course.job;
    std::set<std::uint32_t> epochs;
    for (const CommitRecord& commit : job.redo) epochs.insert(commit.round.id.epoch);
    for (const auto& [number, round] : course.rounds) {
      const std::uint64_t version = job.checkpoint.model_version;
      if (number > version || number + history_rounds_max_ <= version) continue;
      job.history.push_back(round);
      epochs.insert(round.id.epoch);
    }
    for (const std::uint32_t epoch : epochs) job.epochs.push_back(course.epochs.at(epoch));
    return job;
  }

  Course& of(std::uint64_t job) {
    return *std::ranges::find(courses_, job, [](const Course& each) { return each.job.job.job; });
  }

  std::uint64_t history_rounds_max_;
  std::vector<Course> courses_;
};

// Keeps the state of an agent and applies each record to it.
class AgentMirror {
 public:
  void store(const AgentRecordToStore& record) {
    std::visit([&](const auto& kind) { put(kind); }, record);
  }
  const AgentState& state() const { return state_; }

 private:
  void put(const AgentJobRecord& record) {
    if (state_.replica && state_.replica->job != record.job) {
      state_.replica.reset();
      state_.undecided.clear();
    }
    if (state_.download && state_.download->job != record.job) state_.download.reset();
    state_.job = record;
  }
  void put(const ReplicaRecord& record) {
    const std::optional<ReplicaRecord> before = std::exchange(state_.replica, record);
    if (!record.model) keep_model(*before, *state_.replica);
    state_.download.reset();
    std::erase_if(state_.undecided, [&](const UndecidedRound& round) {
      return std::ranges::find(record.undecided, round.id) == record.undecided.end();
    });
  }
  // A record without a model leaves the stored one.
  static void keep_model(const ReplicaRecord& from, ReplicaRecord& to) {
    to.layer_map_hash = from.layer_map_hash;
    to.model_version = from.model_version;
    to.model_hash = from.model_hash;
    to.model = from.model;
    to.rule_state = from.rule_state;
  }
  void put(const ContributionRecord& record) {
    if (record.residual) {
      state_.replica->residual = record.residual;
      state_.replica->residual_stamp = record.residual_stamp;
    }
    if (record.parts.empty()) return;
    auto round = std::ranges::find(state_.undecided, record.id, &UndecidedRound::id);
    if (round == state_.undecided.end()) {
      round = state_.undecided.insert(round, {.id = record.id, .agent_index = 0, .parts = {}});
    }
    round->agent_index = record.agent_index;
    round->stamp = record.residual_stamp;
    round->stamp.version = 0;  // of no use
    for (const ContributionPart& part : record.parts) {
      std::erase_if(round->parts,
                    [&](const ContributionPart& old) { return old.bucket == part.bucket; });
      round->parts.push_back(part);
    }
    std::ranges::sort(round->parts, {}, &ContributionPart::bucket);
  }
  void put(const DownloadRecord& record) {
    if (record.offset == 0) {
      state_.download = {
          .job = record.job, .hash = record.hash, .bytes = record.bytes, .received = {}};
    }
    Bytes& received = state_.download->received;
    if (record.data) received.insert(received.end(), record.data->begin(), record.data->end());
  }

  AgentState state_;
};

}  // namespace tributary::store_testing
