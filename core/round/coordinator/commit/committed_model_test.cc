// Tests of the hashes of earlier model versions, by which the coordinator recognizes an agent's
// replica.
#include "core/round/coordinator/commit/committed_model.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "core/round/coordinator/commit/committed_model_testing.h"
#include "core/round/coordinator/context/job_testing.h"

namespace tributary {
namespace {

using round_testing::model_state;

std::shared_ptr<const RoundRecord> record_of_round(std::uint64_t round, std::uint64_t before,
                                                   std::uint64_t after) {
  RoundRecord record;
  record.id = {.job = 1, .round = round, .epoch = 1, .attempt = 0};
  record.previous_hash = before;
  record.model_hash = after;
  return std::make_shared<const RoundRecord>(std::move(record));
}

// A model of version 5, with the outcomes of rounds 4 and 5.
class CommittedModelTest : public testing::Test {
 protected:
  CommittedModelTest() {
    committed_.replace(model_state(5, 50));
    committed_.history().add_outcome(record_of_round(4, 30, 40));
    committed_.history().add_outcome(record_of_round(5, 40, 50));
  }

  CommittedModel committed_{1'000, 2};
};

TEST_F(CommittedModelTest, TheCurrentHashIsKnownWithoutAHistory) {
  CommittedModel fresh(1'000, 2);
  fresh.replace(model_state(7, 70));
  EXPECT_EQ(fresh.known_hash(7), 70u);
  EXPECT_FALSE(fresh.known_hash(6));
}

TEST_F(CommittedModelTest, TheHashOfAnEarlierVersionIsThatAfterItsRound) {
  EXPECT_EQ(committed_.known_hash(5), 50u);
  EXPECT_EQ(committed_.known_hash(4), 40u);
}

TEST_F(CommittedModelTest, TheHashBeforeTheOldestRoundIsKnownAsWell) {
  EXPECT_EQ(committed_.known_hash(3), 30u);
}

TEST_F(CommittedModelTest, OlderAndLaterVersionsAreNotKnown) {
  EXPECT_FALSE(committed_.known_hash(2));
  EXPECT_FALSE(committed_.known_hash(6));
}

TEST_F(CommittedModelTest, ARoundThatIsNotKeptAnyMoreIsNotKnown) {
  committed_.history().add_outcome(record_of_round(6, 50, 60));
  EXPECT_EQ(committed_.known_hash(4), 40u);
  EXPECT_FALSE(committed_.known_hash(3));
}

}  // namespace
}  // namespace tributary
