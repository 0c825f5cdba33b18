#include "switch_p4/xdp/job_table.h"

#include <gtest/gtest.h>

#include <set>

namespace tributary::switch_xdp {
namespace {

in_network::SlotJob job_of(std::uint16_t handle, std::uint32_t epoch, std::uint32_t slots) {
  in_network::SlotJob job = {
      .handle = handle, .epoch = epoch, .agents = 3, .granularity = 30, .table = 9, .slots = slots};
  for (std::uint16_t i = 0; i < 16; ++i) job.places[i] = static_cast<std::uint16_t>(2 * i);
  return job;
}

TEST(JobTable, BothValuesOfAByteAreShiftedByTheWidth) {
  JobTable table(8);
  in_network::SlotJob job = job_of(1, 1, 4);
  const XdpJob narrow = table.install(job)->entry;
  EXPECT_EQ(narrow.wide, 0);
  EXPECT_EQ(narrow.places[0x5f], 30u | 10u << 8);
  job.epoch = 2;
  job.agents = 40;
  const XdpJob wide = table.install(job)->entry;
  EXPECT_EQ(wide.wide, 1);
  EXPECT_EQ(wide.places[0x5f], 30u | 10u << 16);
}

TEST(JobTable, RangesDoNotOverlapAndGapsAreUsedAgain) {
  JobTable table(10);
  EXPECT_EQ(table.install(job_of(1, 1, 4))->entry.first_slot, 0u);
  EXPECT_EQ(table.install(job_of(2, 1, 4))->entry.first_slot, 4u);
  EXPECT_EQ(table.install(job_of(3, 1, 4)).status().code(), StatusCode::resource_exhausted);
  EXPECT_EQ(table.slots_free(), 2u);
  ASSERT_TRUE(table.remove(1).ok());
  EXPECT_EQ(table.remove(1).code(), StatusCode::not_found);
  EXPECT_EQ(table.install(job_of(3, 1, 3))->entry.first_slot, 0u);
  EXPECT_EQ(table.install(job_of(2, 2, 4))->entry.first_slot, 4u);
  EXPECT_EQ(table.jobs(), 2u);
}

TEST(JobTable, AnEpochHasItsOwnEntryAndInstance) {
  JobTable table(1);
  std::set<std::uint32_t> instances;
  std::uint32_t last = kXdpJobs;
  for (std::uint32_t epoch = 1; epoch <= 2 * kXdpJobs; ++epoch) {
    const auto placed = table.install(job_of(1, epoch, 1));
    ASSERT_TRUE(placed.ok());
    ASSERT_LT(placed->index, static_cast<std::uint32_t>(kXdpJobs));
    ASSERT_NE(placed->index, last);
    ASSERT_NE(placed->entry.instance, 0u);
    ASSERT_TRUE(instances.insert(placed->entry.instance).second);
    last = placed->index;
  }
}

TEST(JobTable, RefusesWhatTheRulesRefuse) {
  JobTable table(8);
  const auto code = [&](auto change) {
    in_network::SlotJob job = job_of(1, 5, 4);
    change(job);
    return table.install(job).status().code();
  };
  ASSERT_EQ(code([](auto&) {}), StatusCode::ok);
  EXPECT_EQ(code([](auto& job) { job.epoch = 5; }), StatusCode::mismatch);
  EXPECT_EQ(code([](auto& job) { job.agents = 65; }), StatusCode::invalid_argument);
  EXPECT_EQ(code([](auto& job) { job.granularity = 29; }), StatusCode::invalid_argument);
  EXPECT_EQ(code([](auto& job) { job.slots = 0; }), StatusCode::invalid_argument);
  EXPECT_EQ(code([](auto& job) { job.slots = 9; }), StatusCode::invalid_argument);
  EXPECT_EQ(code([](auto& job) { job.sources = {1}; }), StatusCode::invalid_argument);
  for (std::uint16_t handle = 2; handle < 66; ++handle) {
    const auto status = JobTable(100).install(job_of(handle, 1, 1)).status();
    EXPECT_TRUE(status.ok());
  }
}

TEST(JobTable, HasALimitOfJobs) {
  JobTable table(100);
  for (std::uint16_t handle = 0; handle < in_network::kJobsMax; ++handle) {
    ASSERT_TRUE(table.install(job_of(handle, 1, 1)).ok());
  }
  EXPECT_EQ(table.install(job_of(999, 1, 1)).status().code(), StatusCode::resource_exhausted);
}

}  // namespace
}  // namespace tributary::switch_xdp
