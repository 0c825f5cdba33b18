// Fixture for tests of commits: a job of two buckets, whose rounds the test plays.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/round/coordinator/attempt/active_round_testing.h"
#include "core/round/coordinator/commit/commit_writer.h"
#include "core/round/coordinator/context/job_testing.h"

namespace tributary::round_testing {

inline constexpr float kNotFinite = INFINITY;
inline constexpr float kTooLarge = 1e30f;  // for the square in Adam's second moment
inline constexpr std::uint64_t kHalf =
    128;  // values of the first bucket; the second bucket has the rest
inline constexpr std::uint64_t kCommitValues = 256;

// A job of two buckets whose server optimizer has a state.
inline wire::JobT job_with_adam() {
  wire::JobT job = small_job(
      {{.name = "first", .shape = {kHalf}}, {.name = "last", .shape = {kCommitValues - kHalf}}});
  job.strategy = "fedadam:rate=0.1";
  return job;
}

// A new job of two members and two buckets. The test runs the store queue.
class CommitWriterTest : public JobTest {
 protected:
  explicit CommitWriterTest(wire::JobT job = job_with_adam(),
                            std::uint64_t history_bytes_max = 1u << 20,
                            std::uint64_t large_results_bytes = CommitWriter::kLargeResultsBytes,
                            std::uint64_t results_in_memory_max = UINT64_MAX)
      : JobTest(std::move(job)),
        committed_(history_bytes_max, 8, results_in_memory_max),
        writer_(job_, committed_, large_results_bytes) {
    policy().bucket_values_max = kHalf;
    open_epoch(2);
    RestoredJob state = restored();
    EXPECT_TRUE(writer_.restore(state).ok());
  }

  // The journal's state of a job that was just submitted.
  static RestoredJob restored() {
    RestoredJob state;
    const auto model = std::make_shared<const FloatVector>(kCommitValues, 0.5f);
    state.checkpoint = {.job = kSmallJob,
                        .model_version = 0,
                        .model_hash = model_hash_of(*model),
                        .model = model,
                        .rule_state = nullptr};
    return state;
  }
  // An attempt at the next round in which each member has sent these values for the two buckets.
  std::unique_ptr<ActiveRound> played(float first, float second) {
    auto round = begin_round(membership_, coordinator_.now, make_plan(committed_.version() + 1));
    EXPECT_EQ(round->buckets().size(), 2u);
    for (std::uint32_t bucket = 0; bucket < 2; ++bucket) {
      BucketAggregation& sums = *round->buckets()[bucket];
      for (std::uint32_t i = 0; i < 2; ++i) {
        const Bytes payload = payload_of(round->plan(), bucket, i, bucket == 0 ? first : second);
        EXPECT_TRUE(sums.add(i, payload).ok());
      }
      EXPECT_TRUE(sums.close(1).ok());
    }
    return round;
  }
  bool write(ActiveRound& round) {
    return writer_.write(round, membership_, reports_,
                         [this](const RoundRecord& record) { done_.push_back(record.id.round); });
  }
  // The commit that the machine has requested to store.
  CommitRecord asked_to_store() {
    coordinator_.store.pump(coordinator_.now, coordinator_.out);
    return std::get<CommitRecord>(actions<StoreCoordinator>().back().record);
  }
  void store() {
    const Token token = actions<StoreCoordinator>().back().token;
    coordinator_.store.stored(coordinator_.now, {.token = token, .status = {}}, coordinator_.out);
  }
  CommitRecord commit(float first, float second) {
    EXPECT_TRUE(write(*played(first, second)));
    CommitRecord record = asked_to_store();
    store();
    return record;
  }

  CommittedModel committed_;
  CommitWriter writer_;
  std::vector<AgentRoundRecord> reports_;
  std::vector<std::uint64_t> done_;  // numbers of the rounds
};

}  // namespace tributary::round_testing
