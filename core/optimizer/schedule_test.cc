// Tests of learning-rate schedules.
#include "core/optimizer/schedule.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

// The rate of a round for a full rate of 2.
double rate(std::string_view spec, std::uint64_t round, std::uint64_t rounds = 100) {
  const Result<Schedule> schedule = parse_schedule(spec);
  EXPECT_TRUE(schedule.ok()) << schedule.status().text();
  return scheduled_rate(*schedule, 2, round, rounds);
}

TEST(Schedule, ConstantStaysAndWarmsUpInAStraightLine) {
  EXPECT_EQ(rate("constant", 1), 2);
  EXPECT_EQ(rate("constant", 1'000'000), 2);
  EXPECT_EQ(rate("constant:warmup=4", 1), 0.5);
  EXPECT_EQ(rate("constant:warmup=4", 2), 1);
  EXPECT_EQ(rate("constant:warmup=4", 4), 2);
  EXPECT_EQ(rate("constant:warmup=4", 5), 2);
}

TEST(Schedule, StepDecreasesEveryFewRounds) {
  const char* spec = "step:every=10,factor=0.5,warmup=2";
  EXPECT_EQ(rate(spec, 1), 1);
  EXPECT_EQ(rate(spec, 12), 2);
  EXPECT_EQ(rate(spec, 13), 1);
  EXPECT_EQ(rate(spec, 22), 1);
  EXPECT_EQ(rate(spec, 23), 0.5);
}

TEST(Schedule, CosineDecreasesFromTheFullRateToItsFloor) {
  EXPECT_EQ(rate("cosine", 1), 2);
  EXPECT_NEAR(rate("cosine", 51), 1, 1e-12);
  EXPECT_NEAR(rate("cosine", 101), 0, 1e-12);
  EXPECT_NEAR(rate("cosine:floor=0.1", 101), 0.2, 1e-12);
  EXPECT_NEAR(rate("cosine:floor=0.1", 100'000), 0.2, 1e-12) << "stays at the floor";
  EXPECT_NEAR(rate("cosine:rounds=20,warmup=10", 16), 1, 1e-12);
  for (std::uint64_t round = 2; round <= 100; ++round) {
    EXPECT_LT(rate("cosine", round), rate("cosine", round - 1));
  }
  EXPECT_EQ(rate("cosine:warmup=200", 100), 1) << "a job shorter than its warm-up";
  EXPECT_EQ(rate("cosine:warmup=100", 101), 2);
}

TEST(Schedule, RefusesInvalidSchedules) {
  for (const char* wrong : {"", "cosin", "step:every=0", "step:factor=2", "cosine:floor=-1",
                            "constant:warmup=0.5", "constant:every=3"}) {
    EXPECT_EQ(parse_schedule(wrong).status().code(), StatusCode::invalid_argument) << wrong;
  }
}

}  // namespace
}  // namespace tributary
