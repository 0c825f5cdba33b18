// An observer sees every round exactly once while the coordinator has problems, and does not
// disturb it.
#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/run/run_follower.h"
#include "tests/end_to_end/federation/federation.h"
#include "tests/end_to_end/federation/small_disk.h"

namespace tributary::end_to_end {
namespace {

// Follows a run's file like a dashboard while the test waits for a round. Its connection stays open
// between the calls.
class RunWatcher {
 public:
  explicit RunWatcher(const std::string& run_file)
      : follower_({.path = run_file, .retry_after = std::chrono::milliseconds(100)}, clock_) {}

  bool saw(std::uint64_t round) {
    return eventually([&] {
      look();
      return !rounds_.empty() && rounds_.back() >= round;
    });
  }
  const std::vector<std::uint64_t>& rounds() const { return rounds_; }
  int begun_anew() const { return begun_anew_; }
  const Status& trouble() const { return trouble_; }

 private:
  void look() {
    for (bool more_at_once = true; more_at_once;) {
      RunChanges changes;
      const Result<bool> more = follower_.step(changes);
      trouble_ = more.status();
      more_at_once = more.ok() && *more;
      begun_anew_ += changes.begins_anew ? 1 : 0;
      for (const NewRound& round : changes.rounds) rounds_.push_back(round.round);
    }
  }

  SystemClock clock_;
  RunFollower follower_;
  std::vector<std::uint64_t> rounds_;
  int begun_anew_ = 0;
  Status trouble_;
};

void expect_each_round_once(RunWatcher& watcher, std::uint64_t rounds) {
  EXPECT_TRUE(watcher.saw(rounds));
  std::vector<std::uint64_t> all(rounds);
  std::iota(all.begin(), all.end(), 1);
  EXPECT_EQ(watcher.rounds(), all);
  EXPECT_EQ(watcher.begun_anew(), 0);
  EXPECT_EQ(watcher.trouble().text(), "ok");
}

TEST(Watched, AKilledCoordinatorReturnsInTheCharts) {
  Federation federation({.rounds = 12});
  RunWatcher watcher(federation.coordinator_journal());
  federation.start_all();
  for (const std::uint64_t round : {2u, 5u, 8u}) {
    ASSERT_TRUE(watcher.saw(round));
    federation.coordinator().kill();
    federation.start_coordinator();
  }
  federation.expect_all_end();
  expect_each_round_once(watcher, 12);
  federation.expect_sound();
}

TEST(Watched, AFullDiskDoesNotDisturbObservers) {
  on_small_disk([](const SmallDisk& disk) {
    Federation federation({.rounds = 30,
                           .agent_settings = {"trainer.train_ms=20"},
                           .coordinator_journal_folder = disk.folder()});
    RunWatcher watcher(federation.coordinator_journal());
    federation.start_all();
    ASSERT_TRUE(watcher.saw(2));
    disk.fill();
    EXPECT_TRUE(federation.coordinator().logs({"store_failed"}));
    // A dashboard is opened at this moment.
    RunWatcher newcomer(federation.coordinator_journal());
    EXPECT_TRUE(newcomer.saw(2));
    disk.free_space();
    federation.expect_all_end();
    expect_each_round_once(watcher, 30);
    expect_each_round_once(newcomer, 30);
    federation.expect_sound();
  });
}

}  // namespace
}  // namespace tributary::end_to_end
