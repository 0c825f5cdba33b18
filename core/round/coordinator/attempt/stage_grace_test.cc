// Tests of the grace time that a stage gives to late payloads once enough have arrived.
#include "core/round/coordinator/attempt/stage_grace.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

constexpr GraceRule kRule = {.least_ns = 50, .factor = 0.5};

TEST(StageGrace, BeginsWhenEnoughPayloadsHaveArrived) {
  StageGrace grace(kRule, 2, 1'000);
  grace.arrived(0, 1'100);
  EXPECT_EQ(grace.due_ns(0, 2), kNever);
  EXPECT_EQ(grace.due_ns(0, 0), kNever);
  grace.arrived(0, 1'200);
  EXPECT_EQ(grace.due_ns(0, 2), 1'300) << "half of the time in which two have arrived";
  grace.arrived(0, 1'290);
  EXPECT_EQ(grace.due_ns(0, 2), 1'300) << "a later one does not move it";
  EXPECT_EQ(grace.due_ns(1, 2), kNever);
}

TEST(StageGrace, IsNeverShorterThanTheLeast) {
  StageGrace grace(kRule, 1, 1'000);
  grace.arrived(0, 1'010);
  EXPECT_EQ(grace.due_ns(0, 1), 1'060);
}

TEST(StageGrace, MeasuresEachStageFromItsOpening) {
  StageGrace grace(kRule, 1, 1'000);
  grace.arrived(0, 5'000);
  grace.opened(0, 5'000);
  EXPECT_EQ(grace.due_ns(0, 1), kNever);
  grace.arrived(0, 5'200);
  EXPECT_EQ(grace.due_ns(0, 1), 5'300);
}

TEST(StageGrace, IsNotGivenWithoutATime) {
  StageGrace grace({}, 1, 1'000);
  grace.arrived(0, 1'100);
  EXPECT_EQ(grace.due_ns(0, 1), kNever);
}

TEST(StageGrace, AHugeFactorDoesNotOverflow) {
  const GraceRule rule = {.least_ns = 1, .factor = 1e300};
  EXPECT_GT(rule.of(kNsPerMs), 1'000'000 * kNsPerMs);
}

}  // namespace
}  // namespace tributary
