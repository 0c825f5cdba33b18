// Generates records with random content in an order in which a state machine could store them.
// Record n is a function of the seed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/round/common/machine/records.h"

namespace tributary::store_testing {

class Draws {
 public:
  explicit Draws(std::uint64_t seed)
      : key_(stream_key({.job_seed = seed, .purpose = DrawPurpose::synthetic_data})) {}

  std::uint32_t next() { return random_bits(key_, count_++); }
  std::uint32_t below(std::uint32_t end) { return next() % end; }
  bool one_in(std::uint32_t n) { return below(n) == 0; }
  std::uint64_t wide() {
    const std::uint64_t high = next();
    return high << 32 | next();
  }
  double real() { return static_cast<double>(next()) / 65536.0 - 1000; }
  std::string text(std::uint32_t size_max) {
    std::string text(below(size_max + 1), ' ');
    for (char& c : text) c = static_cast<char>(next());
    return text;
  }
  SharedBytes bytes(std::uint32_t size_max) {
    auto bytes = std::make_shared<Bytes>(below(size_max + 1));
    for (std::uint8_t& byte : *bytes) byte = static_cast<std::uint8_t>(next());
    return bytes;
  }
  SharedBytes perhaps_bytes(std::uint32_t size_max) {
    return one_in(4) ? nullptr : bytes(size_max);
  }
  SharedFloats floats(std::uint32_t values) {
    auto floats = std::make_shared<FloatVector>(values);
    for (float& value : *floats) value = static_cast<float>(real());
    return floats;
  }

 private:
  StreamKey key_;
  std::uint32_t count_ = 0;
};

inline RoundPolicy made_up_policy(Draws& draws) {
  RoundPolicy policy;
  policy.codec = "thc:bits=4";
  if (draws.one_in(2)) policy.codecs = {"fp32", "int8"};
  policy.agents_min = 1 + draws.below(5);
  policy.learning_rate = static_cast<double>(draws.next()) / 1e9;
  return policy;
}

// One or two jobs with epochs, commits with redo or a checkpoint, reports and agents.
class CoordinatorLife {
 public:
  CoordinatorLife(std::uint64_t seed, std::uint32_t values) : draws_(seed), values_(values) {}

  CoordinatorRecord next() {
    if (courses_.empty() || (courses_.size() < 2 && draws_.one_in(40))) return new_job();
    Course& course = courses_[draws_.below(static_cast<std::uint32_t>(courses_.size()))];
    const std::uint32_t die = draws_.below(10);
    if (die == 0) return agents();
    if (die == 1) return job_record(course.job, ++course.change);
    if (die == 2 || course.epoch == 0) return epoch_record(course);
    return commit_record(course);
  }

 private:
  // The state of one job that the next record depends on.
  struct Course {
    std::uint64_t job = 0;
    std::uint64_t round = 0;
    std::uint32_t epoch = 0;
    std::uint32_t members = 0;
    std::uint32_t change = 0;
  };

  NewJobRecord new_job() {
    Course& course = courses_.emplace_back();
    course.job = draws_.wide();
    return {job_record(course.job, 0), checkpoint(course)};
  }

  JobRecord job_record(std::uint64_t job, std::uint32_t change) {
    JobRecord record;
    record.job = job;
    record.revision = draws_.next();
    record.change = change;
    record.state = static_cast<wire::JobState>(1 + draws_.below(4));
    record.state_reason = draws_.text(40);
    record.definition = draws_.perhaps_bytes(3000);
    record.policy = made_up_policy(draws_);
    return record;
  }

  EpochRecord epoch_record(Course& course) {
    EpochRecord epoch;
    epoch.job = course.job;
    epoch.epoch = course.epoch += 1 + draws_.below(3);
    epoch.first_round = course.round + 1;
    epoch.members.resize(1 + draws_.below(20));
    for (MemberRecord& member : epoch.members) {
      member = {.agent_id = draws_.text(64), .weight = draws_.real()};
    }
    course.members = static_cast<std::uint32_t>(epoch.members.size());
    return epoch;
  }

  CheckpointRecord checkpoint(const Course& course) {
    CheckpointRecord record;
    record.job = course.job;
    record.model_version = course.round;
    record.model_hash = draws_.wide();
    record.model = draws_.floats(values_);
    record.rule_state = draws_.perhaps_bytes(values_);
    return record;
  }

  CommitRecord commit_record(Course& course) {
    ++course.round;
    CommitRecord commit;
    commit.round = round_record(course);
    for (std::uint32_t bucket = 0; bucket < commit.round.buckets; ++bucket) {
      commit.redo.push_back(
          {.bucket = bucket, .stage = draws_.below(3), .payload = draws_.bytes(values_)});
    }
    if (draws_.one_in(3)) commit.aggregator_residual = draws_.floats(values_);
    if (draws_.one_in(5)) commit.checkpoint = checkpoint(course);
    for (std::uint32_t reports = draws_.below(4); reports > 0; --reports) {
      AgentRoundRecord& report = commit.reports.emplace_back();
      report.id = commit.round.id;
      report.agent_id = "agent-" + std::to_string(reports);
      report.loss = draws_.real();
    }
    commit.mechanisms = draws_.perhaps_bytes(100);
    return commit;
  }

  RoundRecord round_record(const Course& course) {
    RoundRecord round;
    round.id = {course.job, course.round, course.epoch, draws_.below(3)};
    round.journal_entry = course.round;
    round.members = course.members;
    round.buckets = 1 + draws_.below(5);
    const std::uint32_t sets = 1 + draws_.below(3);
    for (std::uint32_t i = 0; i < sets; ++i) {
      ContributorSetRecord& set = round.contributor_sets.emplace_back();
      for (std::uint32_t byte = draws_.below(4); byte > 0; --byte) {
        set.bits.push_back(static_cast<std::uint8_t>(draws_.next()));
      }
      set.contributors = draws_.next();
      set.divisor = draws_.real();
    }
    for (std::uint32_t bucket = 0; bucket < round.buckets; ++bucket) {
      if (draws_.one_in(8)) continue;
      round.outcomes.push_back({bucket, draws_.below(sets), draws_.wide()});
    }
    round.previous_hash = draws_.wide();
    round.model_hash = draws_.wide();
    round.plan = draws_.perhaps_bytes(2000);
    round.began_at_ns = static_cast<std::int64_t>(draws_.wide());
    round.committed_at_ns = static_cast<std::int64_t>(draws_.wide());
    round.bytes_up = draws_.wide();
    round.bytes_down = draws_.wide();
    return round;
  }

  AgentRecords agents() {
    AgentRecords records;
    for (std::uint32_t i = draws_.below(4); i > 0; --i) {
      records.agents.push_back({.agent_id = "agent-" + std::to_string(draws_.below(9)),
                                .incarnation = draws_.wide(),
                                .build = draws_.text(20),
                                .device_model = draws_.text(20),
                                .connected = draws_.one_in(2),
                                .job = draws_.wide(),
                                .model_version = draws_.wide()});
    }
    return records;
  }

  Draws draws_;
  std::uint32_t values_;
  std::vector<Course> courses_;
};

// Jobs that replace one another, replicas, contributions in one or several records, and downloads
// that end with a replica, a job or another download.
class AgentLife {
 public:
  AgentLife(std::uint64_t seed, std::uint32_t values) : draws_(seed), values_(values) {}

  AgentRecordToStore next() {
    const std::uint32_t die = draws_.below(16);
    if (job_ == 0 || die == 0) return job_record();
    if (die >= 12) return download();
    if (!has_replica_ || die < 5) return replica();
    return contribution();
  }

 private:
  AgentJobRecord job_record() {
    if (job_ == 0 || draws_.one_in(3)) {
      job_ = draws_.wide() | 1;
      has_replica_ = false;
      undecided_.clear();
      download_ = {};
    }
    AgentJobRecord record;
    record.job = job_;
    record.revision = draws_.next();
    record.change = draws_.next();
    record.state = static_cast<wire::JobState>(1 + draws_.below(4));
    record.definition = draws_.perhaps_bytes(3000);
    return record;
  }

  ResidualStamp stamp() {
    return {.version = draws_.wide(),
            .learning_rate = draws_.real(),
            .updates_taken = draws_.wide(),
            .update_round = draws_.wide(),
            .part_round = draws_.wide(),
            .part_first = draws_.wide()};
  }

  ReplicaRecord replica() {
    ReplicaRecord record;
    record.job = job_;
    record.layer_map_hash = draws_.wide();
    record.epoch = draws_.next();
    record.model_version = draws_.wide();
    record.model_hash = draws_.wide();
    if (!has_replica_ || draws_.one_in(2)) {
      record.model = draws_.floats(values_);
      record.rule_state = draws_.perhaps_bytes(values_);
    }
    record.residual = draws_.one_in(4) ? nullptr : draws_.floats(values_);
    record.residual_stamp = stamp();
    std::erase_if(undecided_, [&](const RoundKey&) { return !draws_.one_in(3); });
    record.undecided = undecided_;
    has_replica_ = true;
    download_ = {};
    return record;
  }

  ContributionRecord contribution() {
    if (undecided_.empty() || draws_.one_in(2)) {
      undecided_.push_back({job_, ++round_, draws_.next(), draws_.below(3)});
    }
    ContributionRecord record;
    record.id = undecided_.back();
    record.agent_index = draws_.next();
    if (draws_.one_in(2)) record.residual = draws_.floats(values_);
    record.residual_stamp = stamp();
    const std::uint32_t buckets = 1 + draws_.below(4);
    for (std::uint32_t bucket = 0; bucket < buckets; ++bucket) {
      if (draws_.one_in(3)) continue;
      record.parts.push_back(
          {.bucket = bucket,
           .first_value = bucket * values_ / 4,
           .values = values_ / 4,
           .if_committed = draws_.one_in(4) ? nullptr : draws_.floats(values_ / 4)});
    }
    return record;
  }

  DownloadRecord download() {
    if (download_.offset == download_.bytes || draws_.one_in(8)) {
      download_ = {
          .job = job_, .hash = draws_.wide(), .bytes = 1 + draws_.below(8 * values_), .data = {}};
    }
    DownloadRecord record = download_;
    const std::uint64_t left = record.bytes - record.offset;
    record.data = draws_.bytes(static_cast<std::uint32_t>(std::min<std::uint64_t>(left, values_)));
    download_.offset += record.data->size();
    return record;
  }

  Draws draws_;
  std::uint32_t values_;
  std::uint64_t job_ = 0;
  std::uint64_t round_ = 0;
  bool has_replica_ = false;
  std::vector<RoundKey> undecided_;
  DownloadRecord download_;  // without its data; offset of the next run
};

}  // namespace tributary::store_testing
