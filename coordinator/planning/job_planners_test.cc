// Tests of the planners by job, which share one measurement of the codecs.
#include "coordinator/planning/job_planners.h"

#include <gtest/gtest.h>

#include <limits>
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

constexpr double kUnmeasured = std::numeric_limits<double>::quiet_NaN();

// Rounds of a job over the same links, and the decision that follows.
Planned planned_after(Planner& planner, int rounds, double exchange_s) {
  Planned last;
  PlanLinks links;
  for (const char* id : {"a", "b"}) links.agents[id] = {1e-3, kUnmeasured, kUnmeasured};
  for (int round = 0; round < rounds; ++round) {
    planner.round_over({.agents = {{.id = "a", .compute_s = 0.01}, {.id = "b", .compute_s = 0.01}},
                        .codec = "fp32",
                        .collective = wire::Collective::star,
                        .bucket_values = 1000,
                        .exchange_s = exchange_s,
                        .round = static_cast<std::uint64_t>(round)});
    const Result<std::optional<Planned>> planned = planner.think(links, {.rounds_left = 1000});
    EXPECT_TRUE(planned.ok()) << planned.status().text();
    if (planned.ok() && *planned) last = **planned;
  }
  return last;
}

double uplink_of(const Planned& planned) {
  return typical_world(planned.inputs.worlds).links.front().rate.up;
}

// About 5 kB each way in 2 s, so 2 * 10^-4 s per byte: 1,000 times that of expected links.
TEST_F(JobPlannersTest, TheNextJobBeginsWithTheLinksOfTheLastOne) {
  planned_after(**planners_.planner_of(job_of(1)), 12, 2);
  // Before any round of its own shows a time. An aggregator that joins makes another planner of the
  // same job, which knows the links as well.
  for (const JobPlanners::Job& job : {job_of(2), job_of(1, true)}) {
    const double next = uplink_of(planned_after(**planners_.planner_of(job), 1, 0));
    EXPECT_GT(next, 1e-4);
    EXPECT_LT(next, 4e-4);
  }
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
