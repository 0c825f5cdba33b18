// Tests of the planners by job, which share one measurement of the codecs.
#include "coordinator/planning/job_planners.h"

#include <gtest/gtest.h>

#include <string>

#include "core/plan/inputs/inputs_testing.h"

namespace tributary {
namespace {

JobPlanners::Job job_of(std::uint64_t id, bool aggregator = false) {
  return {.id = id, .values = 1000, .agents = 2, .in_network_codec = aggregator};
}

class JobPlannersTest : public testing::Test {
 protected:
  int measured_ = 0;
  bool fails_ = false;
  JobPlanners planners_{
      [this](std::uint32_t, const JobPlanners::GoOn&) -> Result<std::vector<PlanCodec>> {
        ++measured_;
        if (fails_) return Status(StatusCode::cancelled, {.what = "measuring"});
        return std::vector<PlanCodec>{
            plan_testing::fixed_codec("fp32", 4, 1e-9, 1),
            plan_testing::fixed_codec(std::string(kInNetworkCodec), 0.5, 1e-9, 0.99)};
      },
      [](const JobPlanners::GoOn&) { return DeviceSpeeds(); }, [] { return true; }};
};

TEST_F(JobPlannersTest, EachJobHasOnePlannerAndCodecsAreMeasuredOnce) {
  ASSERT_TRUE(planners_.measure_codecs(2).ok());
  const auto first = planners_.planner_of(job_of(1));
  const auto second = planners_.planner_of(job_of(2));
  const auto again = planners_.planner_of(job_of(1));
  ASSERT_TRUE(first.ok() && second.ok() && again.ok());
  EXPECT_EQ(*first, *again);
  EXPECT_NE(*first, *second);
  EXPECT_EQ(measured_, 1);
}

// A failed measurement is repeated by the next call.
TEST_F(JobPlannersTest, AfterAnErrorCodecsAreMeasuredAgain) {
  fails_ = true;
  EXPECT_EQ(planners_.planner_of(job_of(1)).status().code(), StatusCode::cancelled);
  fails_ = false;
  EXPECT_TRUE(planners_.planner_of(job_of(1)).ok());
  EXPECT_EQ(measured_, 2);
}

TEST_F(JobPlannersTest, ThereAreAtMostSoMany) {
  for (std::uint64_t job = 1; job <= 3 * JobPlanners::kJobsMax; ++job) {
    EXPECT_TRUE(planners_.planner_of(job_of(job)).ok());
  }
  EXPECT_EQ(measured_, 1) << "what is forgotten is the planners, not the codecs";
}

// Number of codecs in the first decision.
std::size_t codecs_of_first_decision(Planner& planner, bool aggregator) {
  planner.round_over({.agents = {{.id = "a"}, {.id = "b"}}});
  PlanLinks links = {.aggregator_present = aggregator};
  for (const char* id : {"a", "b"}) links.agents[id] = {1e-3, 1e-6, 1e-6};
  const Result<std::optional<Planned>> planned = planner.think(links, {});
  EXPECT_TRUE(planned.ok()) << planned.status().text();
  return planned.ok() && *planned ? (*planned)->inputs.codecs.size() : 0;
}

// The planner stays when the aggregator goes, so that its belief outlives a restart.
TEST_F(JobPlannersTest, AnAggregatorThatAppearsMakesAnotherPlannerOnce) {
  EXPECT_EQ(codecs_of_first_decision(**planners_.planner_of(job_of(1)), false), 1u);
  const auto with = planners_.planner_of(job_of(1, true));
  ASSERT_TRUE(with.ok());
  EXPECT_EQ(codecs_of_first_decision(**with, true), 2u);
  EXPECT_EQ(*planners_.planner_of(job_of(1)), *with);
}

}  // namespace
}  // namespace tributary
