// Tests of the residual over undecided rounds. Each contribution has two outcomes, committed or
// excluded, and later updates must appear in both.
#include "core/round/common/plan/residual_account.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

constexpr RoundKey kRound{.job = 1, .round = 5, .epoch = 2, .attempt = 0};

SharedFloats floats(std::initializer_list<float> values) {
  return std::make_shared<const FloatVector>(values);
}

ResidualAccount with_update() {
  ResidualAccount account(4);
  const FloatVector update = {1, 2, 3, 4};
  account.add(0, update, 1);
  account.took_update(5);
  return account;
}

ContributionPart part(std::uint32_t bucket, std::uint64_t first, SharedFloats values) {
  const std::uint64_t count = values->size();
  return {
      .bucket = bucket, .first_value = first, .values = count, .if_committed = std::move(values)};
}

// A contribution of a codec that loses nothing.
ContributionPart everything(std::uint32_t bucket, std::uint64_t first, std::uint64_t values) {
  return {.bucket = bucket, .first_value = first, .values = values, .if_committed = nullptr};
}

std::shared_ptr<FloatVector> update_of(std::initializer_list<float> values) {
  return std::make_shared<FloatVector>(values);
}

Bitmap only(std::uint32_t bucket) {
  Bitmap bits(2);
  bits.set(bucket);
  return bits;
}

TEST(ResidualAccount, DroppedValuesLeaveAlsoTheUndecidedOutcomes) {
  ResidualAccount account = with_update();
  account.open(kRound, 0, part(0, 0, floats({0.5f, 0})));
  FloatVector change(4, 0.0f);
  account.drop(1, 2, change);
  account.dropped();
  EXPECT_EQ(*account.shared(), (FloatVector{1, 0, 0, 4}));
  EXPECT_EQ(change, (FloatVector{0, -2, -3, 0}));
  EXPECT_EQ(account.stamp().updates_taken, 2u);
  EXPECT_EQ(*account.find(kRound)->parts[0].if_committed, (FloatVector{0.5f, -2}));
}

TEST(ResidualAccount, BucketThatCountsLeavesItsError) {
  ResidualAccount account = with_update();
  account.open(kRound, 0, part(0, 0, floats({0.5f, 0})));
  account.open(kRound, 0, part(1, 2, floats({0, 0.25f})));
  EXPECT_EQ(*account.shared(), (FloatVector{1, 2, 3, 4})) << "open: nothing has been given away";
  account.settle(kRound, only(1));
  EXPECT_EQ(*account.shared(), (FloatVector{1, 2, 0, 0.25f}));
  EXPECT_TRUE(account.undecided().empty());
}

TEST(ResidualAccount, AnotherAttemptSettlesAsExcluded) {
  ResidualAccount account = with_update();
  account.open(kRound, 0, part(0, 0, floats({0, 0})));
  RoundKey other = kRound;
  other.attempt = 1;
  account.settle(other, only(0));
  EXPECT_EQ(*account.shared(), (FloatVector{1, 2, 3, 4}));
  EXPECT_TRUE(account.undecided().empty()) << "the round is decided";
}

TEST(ResidualAccount, LateUpdateIsInBothOutcomes) {
  for (const bool counts : {false, true}) {
    ResidualAccount account = with_update();
    account.open(kRound, 0, part(1, 2, floats({0, 0})));
    const FloatVector late = {1, 1, 1, 1};
    account.add(0, late, 2);
    account.settle(kRound, counts ? only(1) : Bitmap(2));
    EXPECT_EQ(*account.shared(), counts ? (FloatVector{3, 4, 2, 2}) : (FloatVector{3, 4, 5, 6}));
  }
}

TEST(ResidualAccount, SharedValuesDoNotChange) {
  ResidualAccount account = with_update();
  const SharedFloats before = account.shared();
  const FloatVector more = {1, 1, 1, 1};
  account.add(0, more, 1);
  EXPECT_EQ(*before, (FloatVector{1, 2, 3, 4}));
  EXPECT_EQ(*account.shared(), (FloatVector{2, 3, 4, 5}));
}

// A record that is still being stored shares the residual while the round is decided.
TEST(ResidualAccount, PartsOfAllBucketsReplaceSharedValues) {
  ResidualAccount account = with_update();
  account.open(kRound, 0, part(0, 0, floats({0.5f, 0})));
  account.open(kRound, 0, everything(1, 2, 2));
  const SharedFloats stored = account.shared();
  Bitmap both = only(0);
  both.set(1);
  account.settle(kRound, both);
  EXPECT_EQ(*stored, (FloatVector{1, 2, 3, 4}));
  EXPECT_EQ(*account.shared(), (FloatVector{0.5f, 0, 0, 0}));
}

TEST(ResidualAccount, AnEmptyResidualHoldsNoMemory) {
  ResidualAccount account(4);
  EXPECT_EQ(account.shared(), nullptr);
  EXPECT_EQ(account.norm(), 0);
  account.add(update_of({1, 2, 3, 4}), 2);
  EXPECT_EQ(*account.shared(), (FloatVector{2, 4, 6, 8}));
  account.open(kRound, 0, everything(0, 0, 2));
  account.open(kRound, 0, everything(1, 2, 2));
  Bitmap both = only(0);
  both.set(1);
  account.settle(kRound, both);
  EXPECT_EQ(account.shared(), nullptr);
}

TEST(ResidualAccount, BucketThatDoesNotCountIsHeldOn) {
  ResidualAccount account(4);
  account.add(update_of({1, 2, 3, 4}), 1);
  account.open(kRound, 0, everything(0, 0, 2));
  account.open(kRound, 0, everything(1, 2, 2));
  account.settle(kRound, only(1));
  EXPECT_EQ(*account.shared(), (FloatVector{1, 2, 0, 0}));
}

TEST(ResidualAccount, LateUpdateIsLeftWhereEverythingWasGivenAway) {
  ResidualAccount account(4);
  account.add(update_of({1, 2, 3, 4}), 1);
  account.open(kRound, 0, everything(1, 2, 2));
  account.add(update_of({1, 1, 1, 1}), 2);
  account.settle(kRound, only(1));
  EXPECT_EQ(*account.shared(), (FloatVector{3, 4, 2, 2}));
}

TEST(ResidualAccount, UpdateInUseIsLeftAlone) {
  ResidualAccount account(2);
  const std::shared_ptr<FloatVector> update = update_of({1, 2});
  account.add(update, 2);
  EXPECT_EQ(*update, (FloatVector{1, 2}));
  EXPECT_EQ(*account.shared(), (FloatVector{2, 4}));
}

TEST(ResidualAccount, LearningRateRescalesGradientsAlone) {
  ResidualAccount account = with_update();
  account.rescale_to(0.5, true);  // the first rate: no previous rate to convert from
  account.rescale_to(0.25, true);
  EXPECT_EQ(*account.shared(), (FloatVector{2, 4, 6, 8}));
  account.rescale_to(1, false);
  EXPECT_EQ(*account.shared(), (FloatVector{2, 4, 6, 8}));
}

}  // namespace
}  // namespace tributary
