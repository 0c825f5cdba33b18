#include "switch_p4/switchd/jobs/job_installer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "core/base/log/memory_log_testing.h"

namespace tributary::switchd {
namespace {

in_network::SlotJob order_of(std::uint16_t handle, std::uint32_t epoch, std::uint32_t slots) {
  in_network::SlotJob job;
  job.handle = handle;
  job.epoch = epoch;
  job.agents = 2;
  job.granularity = 30;
  for (std::uint16_t i = 0; i < 16; ++i) job.places[i] = static_cast<std::uint16_t>(2 * i);
  job.slots = slots;
  return job;
}

class JobInstallerTest : public testing::Test {
 protected:
  JobInstallerTest()
      : path_(testing::TempDir() + "installer." + std::to_string(::getpid())),
        thread_(*SwitchThread::open({.listen = {.ip = 0x7f000001}, .slots = 8})),
        installer_(*EpochFile::open(path_), *thread_, log_) {}
  ~JobInstallerTest() override { std::remove(path_.c_str()); }

  StatusCode install(std::uint16_t handle, std::uint32_t epoch, std::uint32_t slots,
                     std::uint64_t owner) {
    return installer_.install(order_of(handle, epoch, slots), owner).code();
  }

  const std::string path_;
  std::unique_ptr<SwitchThread> thread_;
  MemoryLog log_;
  JobInstaller installer_;
};

TEST_F(JobInstallerTest, AnEpochThatIsNotServedIsNotUsedUp) {
  EXPECT_EQ(install(7, 4, 9, 1), StatusCode::invalid_argument);  // more slots than there are
  EXPECT_EQ(installer_.highest(7), 0u);
  EXPECT_EQ(install(7, 4, 8, 1), StatusCode::ok);
  EXPECT_EQ(installer_.highest(7), 4u);
  EXPECT_EQ(install(8, 1, 1, 2), StatusCode::resource_exhausted);
  EXPECT_EQ(installer_.highest(8), 0u);
  EXPECT_EQ(install(7, 4, 8, 1), StatusCode::mismatch);
}

TEST_F(JobInstallerTest, AHandleHasOneJob) {
  EXPECT_EQ(install(7, 1, 2, 1), StatusCode::ok);
  EXPECT_EQ(install(7, 2, 2, 99), StatusCode::already_exists);
  EXPECT_EQ(installer_.highest(7), 1u);
  EXPECT_EQ(install(7, 2, 2, 1), StatusCode::ok);
  installer_.remove(7);
  EXPECT_EQ(install(7, 3, 2, 99), StatusCode::ok);
}

// In a new session of the coordinator, jobs of the one before keep neither slots nor handles.
TEST_F(JobInstallerTest, ASessionEndsTheJobsOfTheOneBefore) {
  EXPECT_EQ(install(7, 1, 4, 1), StatusCode::ok);
  EXPECT_EQ(install(8, 1, 4, 2), StatusCode::ok);
  installer_.remove_all();
  EXPECT_EQ(thread_->figures().slots_free, 8u);
  EXPECT_EQ(install(7, 1, 8, 3), StatusCode::mismatch);
  EXPECT_EQ(install(7, 2, 8, 3), StatusCode::ok);
}

}  // namespace
}  // namespace tributary::switchd
