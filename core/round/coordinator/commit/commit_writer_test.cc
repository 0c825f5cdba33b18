// Tests of writing a commit and of restoring from it. A commit becomes visible only when it is
// stored, and repeating stored rounds must give the same model and optimizer state.
#include "core/round/coordinator/commit/commit_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/round/coordinator/commit/commit_writer_testing.h"

namespace tributary {
namespace {

using round_testing::begin_round;
using round_testing::kSmallJob;
using round_testing::payload_of;
using round_testing::small_job;

using round_testing::CommitWriterTest;
using round_testing::job_with_adam;
using round_testing::kCommitValues;
using round_testing::kHalf;
using round_testing::kNotFinite;
using round_testing::kTooLarge;

// The same without a server optimizer: the model moves by the mean of the updates.
class AveragingWriterTest : public CommitWriterTest {
 protected:
  static wire::JobT averaging() {
    wire::JobT job = job_with_adam();
    job.strategy.clear();
    return job;
  }
  AveragingWriterTest() : CommitWriterTest(averaging()) {}
  float value(std::size_t i) const { return (*committed_.state().values)[i]; }
};

// --- writing ---

TEST_F(AveragingWriterTest, TheMeanOfTheUpdatesIsAddedToTheModel) {
  const CommitRecord record = commit(0.25f, -1);
  EXPECT_EQ(value(0), 0.75f);
  EXPECT_EQ(value(kHalf), -0.5f);
  EXPECT_EQ(committed_.hash(), model_hash_of(*committed_.state().values));
  EXPECT_EQ(record.round.model_hash, committed_.hash());
}

TEST_F(CommitWriterTest, NothingIsVisibleBeforeTheCommitIsStored) {
  const std::uint64_t before = committed_.hash();
  EXPECT_TRUE(write(*played(1, 1)));
  asked_to_store();
  EXPECT_EQ(committed_.version(), 0u);
  EXPECT_EQ(committed_.hash(), before);
  EXPECT_EQ(committed_.history().published(1), nullptr);
  EXPECT_TRUE(done_.empty());
  store();
  EXPECT_EQ(committed_.version(), 1u);
  EXPECT_NE(committed_.hash(), before);
  EXPECT_NE(committed_.history().published(1), nullptr);
  EXPECT_EQ(done_, std::vector<std::uint64_t>{1});
}

TEST_F(CommitWriterTest, ARecordListsTheContributorsOfEachResult) {
  const RoundRecord record = commit(1, 1).round;
  EXPECT_EQ(record.id.round, 1u);
  EXPECT_EQ(record.members, 2u);
  EXPECT_EQ(record.outcomes.size(), 2u);
  ASSERT_EQ(record.contributor_sets.size(), 1u) << "buckets with the same contributors share it";
  EXPECT_EQ(record.contributor_sets[0].bits, std::vector<std::uint8_t>{0b11});
  EXPECT_EQ(record.contributor_sets[0].divisor, 2);
}

TEST_F(CommitWriterTest, ARecordHasTheFactsOfTheRound) {
  auto round = begin_round(membership_, coordinator_.now, make_plan(1));
  round->mechanisms.trials = 3;
  // The second agent is late for bucket 1.
  for (std::uint32_t bucket = 0; bucket < 2; ++bucket) {
    BucketAggregation& sums = *round->buckets()[bucket];
    for (std::uint32_t i = 0; i < 2 - bucket; ++i) {
      EXPECT_TRUE(sums.add(i, payload_of(round->plan(), bucket, i, 1)).ok());
    }
    EXPECT_TRUE(sums.close(1).ok());
  }
  EXPECT_TRUE(write(*round));
  const SharedBytes packed = asked_to_store().mechanisms;
  store();
  ASSERT_NE(packed, nullptr);
  const auto& facts = *flatbuffers::GetRoot<wire::RoundMechanisms>(packed->data());
  EXPECT_EQ(facts.quorum(), round->plan().wire().quorum);
  EXPECT_EQ(facts.asked(), 2u);
  EXPECT_EQ(facts.contributors(), 2u);
  EXPECT_EQ(facts.exchanges(), 1u);
  EXPECT_EQ(facts.trials(), 3u);
  ASSERT_EQ(facts.left_out()->size(), 1u);
  EXPECT_EQ(facts.left_out()->Get(0)->of()->str(), membership_.members()[1].agent_id);
  EXPECT_EQ(facts.left_out()->Get(0)->count(), 1u);
  ASSERT_EQ(facts.buckets_by_collective()->size(), 1u);
  EXPECT_EQ(facts.buckets_by_collective()->Get(0)->of()->str(), "star");
  EXPECT_EQ(facts.buckets_by_collective()->Get(0)->count(), 2u);
}

TEST_F(CommitWriterTest, EachRecordContinuesTheOneBefore) {
  const CommitRecord first = commit(1, 1);
  const CommitRecord second = commit(1, 2);
  EXPECT_EQ(second.round.previous_hash, first.round.model_hash);
  EXPECT_EQ(second.round.journal_entry, first.round.journal_entry + 1);
}

TEST_F(CommitWriterTest, ARecordTakesTheReports) {
  reports_.resize(3);
  EXPECT_EQ(commit(1, 1).reports.size(), 3u);
  EXPECT_TRUE(reports_.empty());
}

// --- results that are not finite ---

// Adam's second moment overflows, although the sum and the step are finite.
TEST_F(CommitWriterTest, AStepThatIsNotFiniteMarksItsBucketAndItsContributors) {
  const auto round = played(1, kTooLarge);
  EXPECT_FALSE(write(*round));
  EXPECT_EQ(noted("bucket_dropped"), std::vector<std::string>{"not_finite"});
  EXPECT_FALSE(round->buckets()[0]->not_finite());
  EXPECT_TRUE(round->buckets()[1]->not_finite());
  EXPECT_EQ(round->suspects(), Bitmap(2, true));
}

TEST_F(AveragingWriterTest, AModelThatIsNotFiniteIsNotCommitted) {
  while (std::isfinite(value(0) + 8e37f)) commit(8e37f, 0);
  const std::uint64_t before = committed_.hash();
  const auto round = played(8e37f, 0);
  EXPECT_FALSE(write(*round));
  EXPECT_EQ(round->suspects(), Bitmap(2, true));
  EXPECT_EQ(committed_.hash(), before);
  EXPECT_TRUE(std::isfinite(value(0)));
}

// The payloads of peers do not pass the coordinator, so their result says nothing about a member.
TEST_F(CommitWriterTest, AResultOfPeersHasNoSuspects) {
  policy().collective = wire::Collective::ring;
  const auto plan = make_plan(1);
  const auto round = begin_round(membership_, coordinator_.now, plan);
  for (std::uint32_t bucket = 0; bucket < round->buckets().size(); ++bucket) {
    EXPECT_TRUE(
        round->buckets()[bucket]->take_segment({}, payload_of(*plan, bucket, 0, kNotFinite)).ok());
  }
  EXPECT_FALSE(write(*round));
  EXPECT_EQ(round->suspects().count(), 0u);
}

TEST_F(CommitWriterTest, WithoutAFiniteBucketNothingIsWritten) {
  commit(1, 1);
  const std::uint64_t before = committed_.hash();
  reports_.resize(1);
  EXPECT_FALSE(write(*played(kTooLarge, kTooLarge)));
  EXPECT_TRUE(coordinator_.store.empty());
  EXPECT_EQ(committed_.hash(), before);
  EXPECT_EQ(reports_.size(), 1u) << "they wait for the next commit";
}

// Adam counts its steps: a round without a result must not count as one.
class StepsWriterTest : public CommitWriterTest {
 protected:
  static wire::JobT gradients() {
    wire::JobT job = job_with_adam();
    job.strategy.clear();
    job.mode = wire::ExchangeMode::gradient;
    job.optimizer->kind = wire::OptimizerKind::adam;
    job.optimizer->beta1 = 0.9;
    job.optimizer->beta2 = 0.999;
    job.optimizer->epsilon = 1e-8;
    return job;
  }
  StepsWriterTest() : CommitWriterTest(gradients()) {}

  // The hash after two rounds without failed rounds.
  std::uint64_t hash_without_failures() {
    CommittedModel other(1u << 20, 8);
    CommitWriter writer(job_, other);
    RestoredJob state = restored();
    EXPECT_TRUE(writer.restore(state).ok());
    for (const float second : {1.0f, 2.0f}) {
      committed_.replace(other.state());  // played() plans the round after it
      EXPECT_TRUE(writer.write(*played(1, second), membership_, reports_, [](const auto&) {}));
      asked_to_store();
      store();
    }
    return other.hash();
  }
};

TEST_F(StepsWriterTest, WithoutAFiniteBucketTheOptimizersStateIsAsItWas) {
  commit(1, 1);
  EXPECT_FALSE(write(*played(kTooLarge, kTooLarge)));
  commit(1, 2);
  const std::uint64_t after_failure = committed_.hash();
  EXPECT_EQ(hash_without_failures(), after_failure);
}

// The second exchange trained from a model with the result of the first one.
TEST_F(CommitWriterTest, SeveralExchangesAreWrittenTogetherOrNotAtAll) {
  policy().collective = wire::Collective::ring;
  for (const float last : {1.0f, kNotFinite}) {
    const auto plan = make_plan(1, [](PlanRequest& request) { request.exchanges_per_round = 2; });
    const auto round = begin_round(membership_, coordinator_.now, plan);
    for (std::uint32_t bucket = 0; bucket < round->buckets().size(); ++bucket) {
      const bool is_last = bucket + 1 == round->buckets().size();
      EXPECT_TRUE(round->buckets()[bucket]
                      ->take_segment({}, payload_of(*plan, bucket, 0, is_last ? last : 1))
                      .ok());
    }
    EXPECT_EQ(write(*round), last == 1);
  }
}

// --- checkpoints ---

TEST_F(CommitWriterTest, ACheckpointIsWrittenAfterSoManyRounds) {
  policy().checkpoint_rounds = 2;
  std::vector<bool> written;
  for (int round = 1; round <= 4; ++round) written.push_back(commit(1, 1).checkpoint.has_value());
  EXPECT_EQ(written, (std::vector<bool>{false, true, false, true}));
}

TEST_F(CommitWriterTest, ACheckpointIsTheModelWithTheOptimizersState) {
  policy().checkpoint_rounds = 1;
  const CheckpointRecord checkpoint = *commit(1, 1).checkpoint;
  EXPECT_EQ(checkpoint.model_version, 1u);
  EXPECT_EQ(checkpoint.model_hash, model_hash_of(*checkpoint.model));
  EXPECT_EQ(*checkpoint.rule_state, *committed_.state().rule_state);
  EXPECT_FALSE(checkpoint.rule_state->empty());
}

TEST_F(CommitWriterTest, ACheckpointIsWrittenAfterTheLastRound) {
  policy().checkpoint_redo_models = 100;
  for (int round = 1; round < 10; ++round) EXPECT_FALSE(commit(1, 1).checkpoint) << round;
  EXPECT_TRUE(commit(1, 1).checkpoint);
}

// The redo of one round is slightly larger than the model.
TEST_F(CommitWriterTest, ACheckpointIsWrittenWithTheCommitAfterSoMuchRedo) {
  policy().checkpoint_redo_models = 1.5;
  std::vector<bool> written;
  for (int round = 1; round <= 6; ++round) written.push_back(commit(1, 1).checkpoint.has_value());
  EXPECT_EQ(written, (std::vector<bool>{false, false, true, false, false, true}));
}

// Its encoder reserves more than it needs.
TEST_F(CommitWriterTest, AResultHasMemoryOfItsSize) {
  policy().codec = "gcomp";
  const auto round = played(1, 1);
  for (const auto& bucket : round->buckets()) {
    const Bytes& result = *bucket->combined()[0];
    EXPECT_LT(result.capacity(), result.size() + 4096);
  }
}

// --- payloads of past rounds ---

// With a history that keeps only the payloads of the last round.
class ShortHistoryTest : public CommitWriterTest {
 protected:
  explicit ShortHistoryTest(std::uint64_t large_results_bytes = 1)
      : CommitWriterTest(job_with_adam(), 1, large_results_bytes) {
    commit(1, 1);
    member(0).version = member(1).version = 1;
  }
  bool keeps(std::uint64_t round) const { return committed_.history().published(round) != nullptr; }
};

TEST_F(ShortHistoryTest, PayloadsThatNoAgentLacksGiveTheirMemoryToTheNextModel) {
  EXPECT_TRUE(keeps(1));
  EXPECT_TRUE(write(*played(1, 1)));
  EXPECT_FALSE(keeps(1));
  asked_to_store();
  store();
  EXPECT_TRUE(keeps(2));
}

TEST_F(ShortHistoryTest, PayloadsThatAnAgentLacksStayUntilTheNextCommitIsStored) {
  member(1).version = 0;
  EXPECT_TRUE(write(*played(1, 1)));
  EXPECT_TRUE(keeps(1));
  asked_to_store();
  store();
  EXPECT_FALSE(keeps(1));
}

// It needs the rounds after the model that it downloads.
TEST_F(ShortHistoryTest, ADownloadOfAnOlderModelKeepsThem) {
  member(1).synced = false;
  member(1).transfer = 9;
  member(1).transfer_version = 0;
  EXPECT_TRUE(write(*played(1, 1)));
  EXPECT_TRUE(keeps(1));
}

class SmallResultsTest : public ShortHistoryTest {
 protected:
  SmallResultsTest() : ShortHistoryTest(CommitWriter::kLargeResultsBytes) {}
};

TEST_F(SmallResultsTest, StayUntilTheNextCommitIsStored) {
  EXPECT_TRUE(write(*played(1, 1)));
  EXPECT_TRUE(keeps(1));
}

// With a history whose memory is too small for the last round's results.
class PastResultsTest : public CommitWriterTest {
 protected:
  PastResultsTest() : CommitWriterTest(job_with_adam(), 1u << 20, 1, 1) {
    commit(1, 1);
    member(0).version = member(1).version = 1;
  }
  bool in_memory() const { return committed_.history().published(1)->in_memory; }
};

TEST_F(PastResultsTest, LeaveMemoryIfNoAgentLacksThem) {
  EXPECT_TRUE(in_memory());
  writer_.free_past_results();
  EXPECT_FALSE(in_memory());
}

TEST_F(PastResultsTest, StayWhileAnAgentLacksThem) {
  member(1).version = 0;
  writer_.free_past_results();
  EXPECT_TRUE(in_memory());
}

TEST_F(PastResultsTest, LeaveMemoryBeforeTheNextCommit) {
  EXPECT_TRUE(write(*played(1, 1)));
  EXPECT_FALSE(in_memory());
}

// --- the residual of the aggregator ---

TEST_F(CommitWriterTest, AResidualIsKeptOnlyWhereTheAggregateIsEncodedAgain) {
  EXPECT_TRUE(writer_.aggregator_residual(*make_plan(1)).empty());
  policy().codec = "topk:cr=0.1";
  EXPECT_EQ(writer_.aggregator_residual(*make_plan(1)).size(), kCommitValues);
}

// The record shares the residual, and the journal's thread may still read it.
TEST_F(CommitWriterTest, ANewAttemptLeavesTheResidualOfARecordAsItIs) {
  policy().codec = "topk:cr=0.1";
  std::ranges::fill(writer_.aggregator_residual(*make_plan(1)), 3.0f);
  const SharedFloats recorded = commit(1, 1).aggregator_residual;
  ASSERT_NE(recorded, nullptr);
  const std::span<float> next = writer_.aggregator_residual(*make_plan(2));
  std::ranges::fill(next, 4.0f);
  EXPECT_EQ(*recorded, FloatVector(kCommitValues, 3.0f));
  EXPECT_EQ(*committed_.aggregator_residual(), FloatVector(kCommitValues, 4.0f));
}

// --- after a restart ---

class RestoreTest : public CommitWriterTest {
 protected:
  // A journal with two commits after the first checkpoint.
  RestoreTest() { journal_.redo = {commit(1, 2), commit(-1, 0.5f)}; }

  Status restore() {
    RestoredJob copy = journal_;
    return CommitWriter(job_, restored_).restore(copy);
  }
  void expect_contradiction() {
    const Status status = restore();
    EXPECT_EQ(status.code(), StatusCode::corrupt_data) << status.text();
  }

  RestoredJob journal_ = restored();
  CommittedModel restored_{1u << 20, 8};
};

TEST_F(RestoreTest, RedoMakesTheSameModelAndTheSameState) {
  const Status status = restore();
  ASSERT_TRUE(status.ok()) << status.text();
  EXPECT_EQ(restored_.version(), 2u);
  EXPECT_EQ(restored_.hash(), committed_.hash());
  EXPECT_EQ(*restored_.state().values, *committed_.state().values);
  EXPECT_EQ(*restored_.state().rule_state, *committed_.state().rule_state);
  EXPECT_NE(restored_.history().published(2), nullptr);
}

TEST_F(RestoreTest, ANewCommitContinuesTheOnesThatWereRedone) {
  CommitWriter writer(job_, restored_);
  RestoredJob copy = journal_;
  ASSERT_TRUE(writer.restore(copy).ok());
  const auto round = played(0.5f, 0.25f);
  ASSERT_TRUE(writer.write(*round, membership_, reports_, [](const RoundRecord&) {}));
  const CommitRecord after_restart = asked_to_store();
  store();
  const CommitRecord without_restart = commit(0.5f, 0.25f);
  EXPECT_EQ(after_restart.round.model_hash, without_restart.round.model_hash);
  EXPECT_EQ(after_restart.round.journal_entry, 3u);
}

TEST_F(RestoreTest, ACheckpointContinuesWithTheOptimizersState) {
  policy().checkpoint_rounds = 1;
  journal_.checkpoint = *commit(1, 1).checkpoint;
  journal_.redo = {commit(2, 3)};
  const Status status = restore();
  ASSERT_TRUE(status.ok()) << status.text();
  EXPECT_EQ(restored_.hash(), committed_.hash());
}

TEST_F(RestoreTest, ACheckpointOfAnotherSizeIsAContradiction) {
  journal_.checkpoint.model = std::make_shared<const FloatVector>(3, 0.5f);
  expect_contradiction();
  journal_.checkpoint.model = nullptr;
  expect_contradiction();
}

TEST_F(RestoreTest, ACheckpointWithAnotherHashIsAContradiction) {
  journal_.checkpoint.model_hash ^= 1;
  expect_contradiction();
}

TEST_F(RestoreTest, AResidualOfAnotherSizeIsAContradiction) {
  journal_.aggregator_residual = std::make_shared<const FloatVector>(3, 0.0f);
  expect_contradiction();
}

TEST_F(RestoreTest, ACommitThatDoesNotFollowIsAContradiction) {
  std::swap(journal_.redo[0], journal_.redo[1]);
  expect_contradiction();
  std::swap(journal_.redo[0], journal_.redo[1]);
  journal_.redo[1].round.previous_hash ^= 1;
  expect_contradiction();
}

TEST_F(RestoreTest, ACommitWithoutItsPayloadsIsAContradiction) {
  journal_.redo[1].redo.pop_back();
  expect_contradiction();
}

TEST_F(RestoreTest, ACommitThatMakesAnotherModelIsAContradiction) {
  journal_.redo[1].redo = journal_.redo[0].redo;
  expect_contradiction();
}

TEST_F(RestoreTest, AnOutcomeThatThePlanDoesNotHaveIsAContradiction) {
  journal_.redo[1].round.outcomes[0].bucket = 2;
  expect_contradiction();
}

}  // namespace
}  // namespace tributary
