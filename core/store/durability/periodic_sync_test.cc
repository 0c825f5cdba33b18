// Tests of syncing a file again and again beside its writer.
#include "core/store/durability/periodic_sync.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <fstream>
#include <mutex>

#include "core/base/log/memory_log_testing.h"
#include "core/store/durability/durability.h"
#include "core/store/testing/folder_testing.h"

namespace tributary {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

// Counts calls on another thread.
class Calls {
 public:
  void add() {
    const std::lock_guard lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  void wait_for(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return count_ >= count; });
  }

  int count() {
    const std::lock_guard lock(mutex_);
    return count_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

TEST(PeriodicSync, SyncsAgainAndAgain) {
  MemoryLog log;
  ManualClock clock;
  Calls syncs;
  Calls failures;
  {
    const PeriodicSync syncing(std::chrono::milliseconds(50), {.sync =
                                                                   [&] {
                                                                     syncs.add();
                                                                     return Status();
                                                                   },
                                                               .failed = [&] { failures.add(); },
                                                               .clock = clock,
                                                               .log = log,
                                                               .component = "agent"});
    syncs.wait_for(3);
  }
  EXPECT_EQ(failures.count(), 0);
}

TEST(PeriodicSync, EndsWithoutWaitingForTheNextSync) {
  MemoryLog log;
  ManualClock clock;
  const PeriodicSync syncing(std::chrono::hours(10), {.sync = [] { return Status(); },
                                                      .failed = [] {},
                                                      .clock = clock,
                                                      .log = log,
                                                      .component = "agent"});
}

TEST(PeriodicSync, AFailureIsReportedEachTimeAndLoggedOnce) {
  MemoryLog log;
  ManualClock clock;
  Calls failures;
  {
    const PeriodicSync syncing(
        std::chrono::milliseconds(1),
        {.sync =
             [] { return Status(StatusCode::io_error, {.what = "the disk", .got = "a failure"}); },
         .failed = [&] { failures.add(); },
         .clock = clock,
         .log = log,
         .component = "agent"});
    failures.wait_for(3);
  }
  ASSERT_THAT(log.entries(), SizeIs(1));
  EXPECT_THAT(log.entries()[0].message, HasSubstr("cannot be synced"));
}

// The disk is slower than the bound: writes become durable later, and the log says so.
TEST(PeriodicSync, ASyncThatTakesLongerThanItsPeriodIsLogged) {
  MemoryLog log;
  ManualClock clock;
  Calls syncs;
  {
    const PeriodicSync syncing(std::chrono::milliseconds(1),
                               {.sync =
                                    [&] {
                                      clock.advance(std::chrono::seconds(60));
                                      syncs.add();
                                      return Status();
                                    },
                                .failed = [] {},
                                .clock = clock,
                                .log = log,
                                .component = "agent"});
    syncs.wait_for(2);
  }
  ASSERT_FALSE(log.entries().empty());
  EXPECT_THAT(log.entries()[0].message, HasSubstr("the disk is slow"));
}

TEST(SyncFile, AFileIsSyncedAndAMissingOneHasNothingToSync) {
  const store_testing::Folder folder;
  std::ofstream(folder / "log") << "frames";
  EXPECT_TRUE(sync_file(folder / "log").ok());
  EXPECT_TRUE(sync_file(folder / "missing").ok());
  const Status status = sync_file(folder / "log/below");
  EXPECT_EQ(status.code(), StatusCode::io_error);
  EXPECT_THAT(status.text(), HasSubstr("log/below"));
}

TEST(Durability, IsNamedAsInTheSettings) {
  for (const Durability durability :
       {Durability::round, Durability::seconds_30, Durability::stop}) {
    const Result<Durability> again = durability_named(name(durability));
    ASSERT_TRUE(again.ok()) << again.status().text();
    EXPECT_EQ(*again, durability);
  }
  EXPECT_EQ(name(Durability::seconds_30), "30s");
  EXPECT_THAT(durability_named("60s").status().text(), HasSubstr("expected round, 30s or stop"));
}

}  // namespace
}  // namespace tributary
