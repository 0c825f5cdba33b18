// Tests of the planners by job, which share one measurement of the codecs.
#include "coordinator/planning/job_planners.h"

#include <gtest/gtest.h>

#include "core/plan/inputs/inputs_testing.h"

namespace tributary {
namespace {

class JobPlannersTest : public testing::Test {
 protected:
  int measured_ = 0;
  bool fails_ = false;
  JobPlanners planners_{
      [this](std::uint32_t, const JobPlanners::GoOn&) -> Result<std::vector<PlanCodec>> {
        ++measured_;
        if (fails_) return Status(StatusCode::cancelled, {.what = "measuring"});
        return std::vector<PlanCodec>{plan_testing::fixed_codec("fp32", 4, 1e-9, 1)};
      },
      [](const JobPlanners::GoOn&) { return DeviceSpeeds(); }, [] { return true; }};
};

TEST_F(JobPlannersTest, EachJobHasOnePlannerAndCodecsAreMeasuredOnce) {
  ASSERT_TRUE(planners_.measure_codecs(2).ok());
  const auto first = planners_.planner_of(1, 1000, 2);
  const auto second = planners_.planner_of(2, 1000, 2);
  const auto again = planners_.planner_of(1, 1000, 2);
  ASSERT_TRUE(first.ok() && second.ok() && again.ok());
  EXPECT_EQ(*first, *again);
  EXPECT_NE(*first, *second);
  EXPECT_EQ(measured_, 1);
}

// A failed measurement is repeated by the next call.
TEST_F(JobPlannersTest, AfterAnErrorCodecsAreMeasuredAgain) {
  fails_ = true;
  EXPECT_EQ(planners_.planner_of(1, 1000, 2).status().code(), StatusCode::cancelled);
  fails_ = false;
  EXPECT_TRUE(planners_.planner_of(1, 1000, 2).ok());
  EXPECT_EQ(measured_, 2);
}

TEST_F(JobPlannersTest, ThereAreAtMostSoMany) {
  for (std::uint64_t job = 1; job <= 3 * JobPlanners::kJobsMax; ++job) {
    EXPECT_TRUE(planners_.planner_of(job, 1000, 2).ok());
  }
  EXPECT_EQ(measured_, 1) << "what is forgotten is the planners, not the codecs";
}

}  // namespace
}  // namespace tributary
