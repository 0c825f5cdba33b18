// Tests of the updates that an agent keeps until a round counts them. Invariant: an update is in
// the residual or in an undecided contribution, never in both and never lost.
#include "core/round/agent/replica/local_updates.h"

#include "core/round/agent/replica/agent_parts_testing.h"

namespace tributary {
namespace {

using round_testing::AgentParts;
using round_testing::all;
using round_testing::by_bucket;
using round_testing::kBucketValues;
using round_testing::kSmallValues;

// The updates of an agent without a residual.
class SomeUpdates : public testing::Test {
 protected:
  void SetUp() override {
    agent_.have_model();
    updates_.begin_job(kSmallValues);
  }
  FloatVector residual() const {
    const SharedFloats values = updates_.residual().shared();
    return values ? *values : FloatVector();
  }

  AgentParts agent_;
  LocalUpdates updates_;
};

TEST_F(SomeUpdates, AcceptsTheRestOfAnUpdateAfterItsEnd) {
  const auto plan = agent_.round_plan(1);
  updates_.residual().add(0, *all(1), 1);
  EXPECT_FALSE(
      updates_.take_part(*plan, *plan, {.first_value = kBucketValues + 1, .update = all(2)}))
      << "no whole bucket";
  EXPECT_TRUE(updates_.take_part(*plan, *plan, {.first_value = kBucketValues, .update = all(2)}));
  EXPECT_EQ(residual(), by_bucket(1, 3));
  EXPECT_FALSE(updates_.has_update_of(*plan));
  updates_.take(*plan, 0, all(2));
  EXPECT_EQ(residual(), *all(3));
  EXPECT_TRUE(updates_.has_update_of(*plan));
}

TEST_F(SomeUpdates, AppliesTheWeightOfThePlan) {
  updates_.take(*agent_.round_plan(1, {.weight = 2}), 0, all(1));
  EXPECT_EQ(residual(), *all(2));
}

TEST_F(SomeUpdates, KeepsTheUpdateOfACodecThatDoesNotConserveBesideTheResidual) {
  const auto plan = agent_.round_plan(1, {.codec = "signsgd"});
  ASSERT_FALSE(plan->conserves());
  updates_.take(*plan, 0, all(1));
  EXPECT_EQ(residual(), FloatVector());
  EXPECT_TRUE(updates_.has_update_of(*plan));
  EXPECT_EQ(updates_.input_of(plan->buckets()[0])[0], 1);
  updates_.round_ended(true);
  EXPECT_FALSE(updates_.has_update_of(*plan));
}

// The next attempt sends the updates of all exchanges, also those that an exchange still holds.
TEST_F(SomeUpdates, KeepsTheSumOfARoundsExchanges) {
  for (const char* const codec : {"fp32", "signsgd", "qsgd", "dgc", "thc:range=minmax"}) {
    updates_.begin_job(kSmallValues);
    const auto plan = agent_.round_plan(
        1, {.codec = codec, .members = 1, .collective = wire::Collective::ring, .exchanges = 3});
    updates_.take(*plan, 0, all(1));
    const auto held = updates_.hold();
    updates_.take(*plan, 1, all(2));
    updates_.take(*plan, 2, all(4));
    updates_.round_ended(false);
    const auto next = agent_.round_plan(1, {.codec = codec});
    ASSERT_TRUE(updates_.has_update_of(*next)) << codec;
    for (const PlannedBucket& bucket : next->buckets()) {
      EXPECT_EQ(updates_.input_of(bucket)[0], 7) << codec;
    }
    if (!plan->conserves()) {
      EXPECT_EQ(residual(), FloatVector()) << codec;
      EXPECT_EQ((*held[1])[0], 1) << codec;
    }
    updates_.round_ended(true);
    EXPECT_FALSE(updates_.has_update_of(*agent_.round_plan(2, {.codec = codec}))) << codec;
  }
}

// The round was committed without this agent while it trained for a later exchange.
TEST_F(SomeUpdates, AnUpdateOfALateExchangeWaitsForTheNextRound) {
  const auto plan = agent_.round_plan(
      1, {.codec = "signsgd", .members = 1, .collective = wire::Collective::ring, .exchanges = 2});
  updates_.take(*plan, 0, all(1));
  updates_.round_ended(true);
  updates_.take(*plan, 1, all(2));
  const auto next = agent_.round_plan(2, {.codec = "signsgd"});
  ASSERT_TRUE(updates_.has_update_of(*next));
  EXPECT_EQ(updates_.input_of(next->buckets()[0])[0], 2);
}

TEST_F(SomeUpdates, KeepsAnUpdateUntilARoundCountsIt) {
  for (const char* const codec : {"fp32", "signsgd"}) {
    updates_.begin_job(kSmallValues);
    updates_.take(*agent_.round_plan(1, {.codec = codec}), 0, all(1));
    updates_.round_ended(false);
    const auto next = agent_.round_plan(2, {.codec = codec});
    EXPECT_TRUE(updates_.has_update_of(*next)) << codec;
    const std::string other = codec == std::string("fp32") ? "signsgd" : "fp32";
    EXPECT_FALSE(updates_.has_update_of(*agent_.round_plan(2, {.codec = other})))
        << "the values are not where the other codec reads them";
    updates_.round_ended(true);
    EXPECT_FALSE(updates_.has_update_of(*next)) << codec;
  }
}

TEST_F(SomeUpdates, SettlesTheRoundsUpToTheOfferedModel) {
  updates_.take(*agent_.round_plan(1), 0, all(1));
  for (const std::uint64_t round : {1u, 2u}) {
    updates_.residual().open(
        {.job = 1, .round = round, .epoch = 1, .attempt = 0}, 0,
        {.bucket = 0, .first_value = 0, .values = kSmallValues, .if_committed = nullptr});
  }
  wire::TransferOfferT offer;
  offer.model_version = 1;
  EXPECT_EQ(updates_.settle_by(offer).code(), StatusCode::not_found);
  offer.settled.push_back(std::make_unique<wire::SettlementT>());
  offer.settled[0]->committed = true;
  offer.settled[0]->buckets = 1;
  offer.settled[0]->contributed_bits = {1};
  offer.settled[0]->id =
      std::make_unique<wire::RoundId>(wire_id({.job = 1, .round = 1, .epoch = 1, .attempt = 0}));
  EXPECT_TRUE(updates_.settle_by(offer).ok());
  EXPECT_EQ(residual(), FloatVector()) << "everything was given away";
  ASSERT_EQ(updates_.residual().undecided().size(), 1u);
  EXPECT_EQ(updates_.residual().undecided()[0].id.round, 2u);
}

TEST_F(SomeUpdates, RefusesAJournalOfAnotherModel) {
  ReplicaRecord stored;
  stored.residual = std::make_shared<const FloatVector>(kSmallValues + 1);
  EXPECT_FALSE(updates_.restore(*agent_.replica.job(), stored, {}).ok());
  stored.residual = all(1);
  UndecidedRound beyond;
  beyond.parts.push_back({.first_value = kSmallValues, .values = 1, .if_committed = nullptr});
  EXPECT_FALSE(updates_.restore(*agent_.replica.job(), stored, {beyond}).ok());
  EXPECT_TRUE(updates_.restore(*agent_.replica.job(), stored, {}).ok());
  EXPECT_EQ(residual(), *all(1));
}

// The process ended after it had stored what remains of its contribution to round 1.
TEST_F(SomeUpdates, ACountedContributionBringsItsUpdateBack) {
  const RoundKey id = {.job = 1, .round = 1, .epoch = 1, .attempt = 0};
  const UndecidedRound open = {
      .id = id,
      .agent_index = 0,
      .parts = {{.bucket = 0, .first_value = 0, .values = kBucketValues, .if_committed = nullptr}},
      .stamp = {.updates_taken = 4, .update_round = 1}};
  for (const bool counted : {true, false}) {
    ReplicaRecord stored;
    stored.residual = all(2);
    stored.residual_stamp.updates_taken = 3;
    ASSERT_TRUE(updates_.restore(*agent_.replica.job(), stored, {open}).ok());
    Bitmap buckets(2);
    if (counted) buckets.set(0);
    updates_.residual().settle(id, buckets);
    EXPECT_EQ(residual(), counted ? by_bucket(0, 2) : *all(2));
    EXPECT_EQ(updates_.residual().stamp().updates_taken, counted ? 4u : 3u);
    EXPECT_EQ(updates_.residual().stamp().update_round, counted ? 1u : 0u);
  }
}

}  // namespace
}  // namespace tributary
