// Many random traces, planner only.
#include "coordinator/closed_loop/plan_runs.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "core/base/thread_pool.h"

namespace tributary {
namespace {

void expect_goal_on_each_of(std::uint64_t seeds) {
  const Result<PlanScenario> scenario =
      read_plan_scenario(std::string(TRIBUTARY_SCENARIOS) + "/random.toml");
  ASSERT_TRUE(scenario.ok()) << scenario.status().text();
  const PlanRunsRequest request = {
      .seeds = seeds, .threads = hardware_threads(), .hindsight = false};
  const Result<std::vector<PlanRun>> runs = run_plan_seeds(*scenario, request);
  ASSERT_TRUE(runs.ok()) << runs.status().text();
  ASSERT_EQ(runs->size(), seeds);
  std::uint64_t changed = 0;
  for (const PlanRun& run : *runs) {
    EXPECT_TRUE(run.planner.reached) << "seed " << run.seed;
    changed += run.planner.decisions.empty() ? 0u : 1u;
  }
  // On some traces the first choice is the best one.
  EXPECT_GE(changed, seeds / 2);
}

TEST(SomeTraces, PlannerReachesTheGoalOnEach) { expect_goal_on_each_of(12); }

TEST(ManyTraces, PlannerReachesTheGoalOnEach) { expect_goal_on_each_of(200); }

}  // namespace
}  // namespace tributary
