// Tests of the model that the coordinator makes while an attempt still waits for buckets: the same
// bits as at the end, and nothing of it is left if the attempt fails.
#include "core/round/coordinator/commit/commit_writer_testing.h"

namespace tributary {
namespace {

using round_testing::begin_round;
using round_testing::CommitWriterTest;
using round_testing::kTooLarge;
using round_testing::payload_of;

class NextModelTest : public CommitWriterTest {
 protected:
  // An attempt of which no payload has arrived.
  std::unique_ptr<ActiveRound> begun() {
    return begin_round(membership_, coordinator_.now, make_plan(committed_.version() + 1));
  }
  void finish(ActiveRound& round, std::uint32_t bucket, float value) {
    BucketAggregation& sums = *round.buckets()[bucket];
    for (std::uint32_t i = 0; i < 2; ++i) {
      EXPECT_TRUE(sums.add(i, payload_of(round.plan(), bucket, i, value)).ok());
    }
    EXPECT_TRUE(sums.close(1).ok());
  }
  // Round 1 with these values, each bucket applied when it is finished. Returns the model's hash.
  std::uint64_t commit_in_steps(float first, float second) {
    const auto round = begun();
    EXPECT_FALSE(writer_.has_next(*round));
    finish(*round, 0, first);
    EXPECT_TRUE(writer_.has_next(*round));
    writer_.apply_next(*round, membership_);
    EXPECT_FALSE(writer_.has_next(*round)) << "the other bucket has no result";
    finish(*round, 1, second);
    EXPECT_TRUE(write(*round));
    return finish_commit();
  }
  std::uint64_t finish_commit() {
    asked_to_store();
    store();
    return committed_.hash();
  }
};

TEST_F(NextModelTest, HasTheSameBitsWhenBucketsAreAppliedAsTheyFinish) {
  const CommittedModel::State before = committed_.state();
  const std::uint64_t hash = commit_in_steps(1, 2);
  CommittedModel other(1u << 20, 8);
  CommitWriter writer(job_, other);
  RestoredJob state = restored();
  ASSERT_TRUE(writer.restore(state).ok());
  committed_.replace(before);  // played() plans the round after it
  ASSERT_TRUE(writer.write(*played(1, 2), membership_, reports_, [](const auto&) {}));
  finish_commit();
  EXPECT_EQ(other.hash(), hash);
}

// Adam would count the step of the failed attempt.
TEST_F(NextModelTest, LeavesNothingOfAnAttemptThatIsGivenUp) {
  const CommittedModel::State before = committed_.state();
  const auto failed = begun();
  finish(*failed, 0, 3);
  writer_.apply_next(*failed, membership_);
  writer_.forget();
  EXPECT_EQ(committed_.hash(), before.hash);
  const std::uint64_t hash = commit_in_steps(1, 2);
  CommittedModel other(1u << 20, 8);
  CommitWriter writer(job_, other);
  RestoredJob state = restored();
  ASSERT_TRUE(writer.restore(state).ok());
  committed_.replace(before);
  ASSERT_TRUE(writer.write(*played(1, 2), membership_, reports_, [](const auto&) {}));
  finish_commit();
  EXPECT_EQ(other.hash(), hash);
}

// The end of the round finds the error again and names the bucket.
TEST_F(NextModelTest, GoesNoFurtherAfterAStepThatIsNotFinite) {
  const auto round = begun();
  finish(*round, 0, kTooLarge);
  writer_.apply_next(*round, membership_);
  finish(*round, 1, 1);
  EXPECT_FALSE(writer_.has_next(*round));
  EXPECT_FALSE(round->buckets()[0]->not_finite());
  EXPECT_FALSE(write(*round));
  EXPECT_TRUE(round->buckets()[0]->not_finite());
}

}  // namespace
}  // namespace tributary
