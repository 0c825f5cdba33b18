// A disk that is full for some time.
#include <gtest/gtest.h>

#include <string>

#include "tests/end_to_end/federation/federation.h"
#include "tests/end_to_end/federation/small_disk.h"

namespace tributary::end_to_end {
namespace {

TEST(FullDisk, OnTheCoordinatorHoldsTheJobUntilThereIsSpace) {
  on_small_disk([](const SmallDisk& disk) {
    Federation federation({.rounds = 30,
                           .agent_settings = {"trainer.train_ms=20"},
                           .coordinator_journal_folder = disk.folder()});
    federation.start_all();
    ASSERT_TRUE(federation.committed(2));
    disk.fill();
    // The failure is logged once but storing is retried, and all processes keep running.
    EXPECT_TRUE(federation.coordinator().logs({"store_failed"}));
    EXPECT_TRUE(federation.coordinator().running());
    EXPECT_TRUE(federation.coordinator().lines_with({"agent_gone"}).empty());
    disk.free_space();
    federation.expect_all_end();
    EXPECT_EQ(federation.coordinator().lines_with({"store_failed"}).size(), 1u);
    federation.expect_sound();
  });
}

TEST(FullDisk, OnAnAgentExcludesItUntilThereIsSpace) {
  on_small_disk([](const SmallDisk& disk) {
    Federation federation({.rounds = 60,
                           .coordinator_settings = {"job.agents_min=2", "job.deadline_ms=1000"},
                           .agent_settings = {"trainer.train_ms=40"},
                           .agent_journal_folders = {{2, disk.folder()}}});
    federation.start_all();
    Process& coordinator = federation.coordinator();
    ASSERT_TRUE(coordinator.logs({"round committed", "contributors=3"}, 2));
    disk.fill();
    EXPECT_TRUE(federation.agent(2).logs({"store_failed"}));
    EXPECT_TRUE(coordinator.logs({"round committed", "contributors=2"}, 2)) << "without it";
    disk.free_space();
    const std::size_t before = coordinator.lines_with({"round committed", "contributors=3"}).size();
    EXPECT_TRUE(coordinator.logs({"round committed", "contributors=3"}, before + 1)) << "with it";
    federation.expect_all_end();
    federation.expect_sound();
  });
}

TEST(FullDisk, AKillWhileItIsFullLosesNothingEither) {
  on_small_disk([](const SmallDisk& disk) {
    Federation federation({.rounds = 30,
                           .agent_settings = {"trainer.train_ms=20"},
                           .coordinator_journal_folder = disk.folder()});
    federation.start_all();
    ASSERT_TRUE(federation.committed(2));
    disk.fill();
    EXPECT_TRUE(federation.coordinator().logs({"store_failed"}));
    federation.coordinator().kill();
    disk.free_space();
    federation.start_coordinator();
    federation.expect_all_end();
    federation.expect_sound();
  });
}

}  // namespace
}  // namespace tributary::end_to_end
