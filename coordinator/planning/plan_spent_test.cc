// Tests of summing up the time and the bytes that a job has used.
#include "coordinator/planning/plan_spent.h"

#include <gtest/gtest.h>

#include "core/run/run_testing.h"
#include "core/store/database/journal.h"
#include "core/store/testing/folder_testing.h"

namespace tributary {
namespace {

constexpr std::int64_t kPlanDayNs = std::int64_t{86'400} * 1'000'000'000;

TEST(PlanSpent, IsTheTimeOfAllRoundsAndTheBytesOfTheDay) {
  const store_testing::Folder folder;
  run_testing::RunWriter writer(folder / "run.db");
  writer.job();
  for (std::uint64_t round = 1; round <= 3; ++round) writer.round(round);
  auto run = RunFile::open(folder / "run.db");
  ASSERT_TRUE(run.ok()) << run.status().text();
  const std::int64_t now = wall_time_ns(writer.clock());
  const auto today = read_spent(**run, run_testing::kJob, now);
  ASSERT_TRUE(today.ok()) << today.status().text();
  EXPECT_EQ(today->seconds, 3);
  EXPECT_EQ(today->day, static_cast<std::uint64_t>(now / kPlanDayNs));
  EXPECT_EQ(today->bytes, (std::map<std::string, std::uint64_t>{{"a", 450}, {"b", 450}}));
  EXPECT_TRUE(read_spent(**run, run_testing::kJob, now + kPlanDayNs)->bytes.empty()) << "a new day";
  EXPECT_EQ(read_spent(**run, run_testing::kJob + 1, now)->seconds, 0) << "another job";
}

}  // namespace
}  // namespace tributary
