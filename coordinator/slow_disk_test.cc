// Rounds do not wait for a disk whose syncs do not end. The test holds all syncs of files of this
// program, SQLite's as well, until it lets them go on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "coordinator/coordinator_storage.h"
#include "coordinator/journal/journal_writer.h"
#include "core/base/log/memory_log_testing.h"
#include "core/service/loop/posted_events_testing.h"
#include "core/store/coordinator/run_file.h"
#include "core/store/testing/describe_testing.h"
#include "core/store/testing/folder_testing.h"
#include "core/store/testing/mirror_testing.h"

namespace tributary {
namespace {

class Disk {
 public:
  static Disk& get() {
    static Disk disk;
    return disk;
  }

  void stop() { set(true); }
  void go_on() { set(false); }
  int waiting() {
    const std::lock_guard lock(mutex_);
    return waiting_;
  }
  void wait() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.wait(lock, [this] { return !stopped_; });
    --waiting_;
  }

 private:
  void set(bool stopped) {
    const std::lock_guard lock(mutex_);
    stopped_ = stopped;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  int waiting_ = 0;
};

}  // namespace
}  // namespace tributary

// Takes the place of the system's for this program and its libraries.
extern "C" __attribute__((visibility("default"))) int fdatasync(int file) {
  tributary::Disk::get().wait();
  return static_cast<int>(::syscall(SYS_fdatasync, file));
}

namespace tributary {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLogBytes = 1u << 20;
constexpr std::size_t kPayloadBytes = 64u << 10;
constexpr std::size_t kModelValues = 64u << 10;
constexpr std::uint64_t kCheckpointEvery = 8;
constexpr std::uint64_t kRounds = 200;

class SlowDisk : public testing::Test {
 protected:
  void SetUp() override {
    open();
    ASSERT_TRUE(storage_->restore().ok());
    NewJobRecord job;
    job.job.job = 1;
    job.checkpoint = checkpoint(0);
    store(std::move(job));
    store(EpochRecord{.job = 1, .epoch = 1, .first_round = 1, .members = {{.agent_id = "a"}}});
  }
  void TearDown() override { Disk::get().go_on(); }

  void open() {
    auto opened =
        CoordinatorStorage::open({.journal = {.path = folder_ / "run.db",
                                              .durability = Durability::stop,
                                              .log_bytes = kLogBytes}},
                                 {.post = events_.poster(), .clock = clock_, .log = log_});
    ASSERT_TRUE(opened.ok()) << opened.status().text();
    storage_ = std::move(*opened);
  }

  static CheckpointRecord checkpoint(std::uint64_t version) {
    CheckpointRecord record;
    record.job = 1;
    record.model_version = version;
    record.model = std::make_shared<FloatVector>(kModelValues, static_cast<float>(version + 1));
    return record;
  }

  static CommitRecord commit(std::uint64_t round) {
    CommitRecord record;
    record.round.id = {.job = 1, .round = round, .epoch = 1, .attempt = 0};
    record.redo.push_back(
        {.bucket = 0,
         .stage = 0,
         .payload = std::make_shared<Bytes>(kPayloadBytes, static_cast<std::uint8_t>(round))});
    if (round % kCheckpointEvery == 0) record.checkpoint = checkpoint(round);
    return record;
  }

  // Returns when it is stored, as a state machine waits for it.
  void store(CoordinatorRecord record) {
    mirror_.store(record);
    StoreCoordinator request;
    request.record = std::move(record);
    storage_->store(request);
    ASSERT_EQ(events_.next<Stored>().status.text(), "ok");
  }

  std::uintmax_t bytes_of(const char* end) const {
    std::error_code error;
    const std::uintmax_t bytes = fs::file_size(folder_ / (std::string("run.db") + end), error);
    return error ? 0 : bytes;
  }

  // The journal's thread works meanwhile, as its answers show.
  void wait_until(const std::function<bool()>& there) {
    for (int i = 0; i < 1'000'000 && !there() && !HasFailure(); ++i) {
      storage_->load({.token = 1, .job = 1, .round = 1});
      events_.next<RoundLoaded>();
    }
    ASSERT_TRUE(there());
  }

  store_testing::Folder folder_;
  SystemClock clock_;
  MemoryLog log_;
  service_testing::PostedEvents events_;
  store_testing::CoordinatorMirror mirror_;
  std::unique_ptr<CoordinatorStorage> storage_;
};

TEST_F(SlowDisk, RoundsGoOnWhileTheLogIsCopied) {
  Disk::get().stop();
  for (std::uint64_t round = 1; round <= kRounds && !HasFatalFailure(); ++round) {
    store(commit(round));
  }
  EXPECT_GE(Disk::get().waiting(), 1) << "the log is being copied";

  // Both have a bound: the log ends where rounds go to the other file, and that one has the newest
  // payloads alone.
  constexpr std::uint64_t kAll = kRounds * kPayloadBytes;
  EXPECT_GE(bytes_of("-wal"), kLogBytes);
  EXPECT_LT(bytes_of("-wal"), 2 * kLogBytes);
  EXPECT_GT(bytes_of("-recent"), kPayloadBytes);
  EXPECT_LT(bytes_of("-recent"), kAll / 4);

  storage_->load({.token = 7, .job = 1, .round = kRounds});
  const auto loaded = events_.next<RoundLoaded>();
  ASSERT_TRUE(loaded.round);
  EXPECT_EQ(loaded.round->id.round, kRounds);

  Disk::get().go_on();
  wait_until([&] { return !fs::exists(folder_ / "run.db-recent"); });
  storage_.reset();
  const auto run = RunFile::open(folder_ / "run.db");
  ASSERT_TRUE(run.ok()) << run.status().text();
  EXPECT_FALSE((*run)->missing()->any());
  EXPECT_EQ((*run)->rounds(1, 1, kRounds)->size(), kRounds);
  open();
  const auto restored = storage_->restore();
  ASSERT_TRUE(restored.ok()) << restored.status().text();
  EXPECT_EQ(store_testing::described(*restored), store_testing::described(mirror_.state()));
}

// Rounds that are still beside the journal are moved before it is closed.
TEST_F(SlowDisk, AnEndDuringTheCopyLosesNothing) {
  Disk::get().stop();
  for (std::uint64_t round = 1; round <= 60 && !HasFatalFailure(); ++round) store(commit(round));
  ASSERT_GT(bytes_of("-recent"), 0u);
  std::thread later([] { Disk::get().go_on(); });
  storage_.reset();
  later.join();
  EXPECT_EQ(bytes_of("-recent") + bytes_of("-wal"), 0u);
  open();
  const auto restored = storage_->restore();
  ASSERT_TRUE(restored.ok()) << restored.status().text();
  EXPECT_EQ(store_testing::described(*restored), store_testing::described(mirror_.state()));
}

// The journal's writer with a clock of the test, whose thread is the test's.
class RoundsOfASlowDisk : public testing::Test {
 protected:
  static constexpr std::chrono::nanoseconds kNone{0};
  static constexpr std::chrono::seconds kLong{6};

  void SetUp() override {
    auto opened = JournalWriter::open({.journal = {.path = folder_ / "run.db",
                                                   .durability = Durability::stop,
                                                   .log_bytes = kLogBytes}},
                                      {.on_thread =
                                           [this](std::function<void()> work) {
                                             const std::lock_guard lock(mutex_);
                                             works_.push_back(std::move(work));
                                           },
                                       .blocked = [](std::uint64_t) {},
                                       .clock = clock_,
                                       .log = log_});
    ASSERT_TRUE(opened.ok()) << opened.status().text();
    writer_ = std::move(*opened);
    NewJobRecord job;
    job.job.job = 1;
    job.checkpoint = {.job = 1, .model = std::make_shared<FloatVector>(64, 1.0f)};
    ASSERT_TRUE(writer_->store(job).ok());
    const EpochRecord epoch{.job = 1, .epoch = 1, .first_round = 1, .members = {{.agent_id = "a"}}};
    ASSERT_TRUE(writer_->store(epoch).ok());
  }
  void TearDown() override {
    Disk::get().go_on();
    if (writer_) writer_->end_copies();
  }

  // The time that the next round has to wait.
  std::chrono::nanoseconds pause_after_round(std::size_t bytes) {
    CommitRecord record;
    record.round.id = {.job = 1, .round = ++round_, .epoch = 1, .attempt = 0};
    record.redo.push_back(
        {.bucket = 0, .stage = 0, .payload = std::make_shared<Bytes>(bytes, std::uint8_t{1})});
    EXPECT_TRUE(writer_->store(record).ok());
    return writer_->rest();
  }

  // Rounds until a copy of the log has begun, and waits for the disk.
  void begin_copy(std::size_t bytes) {
    Disk::get().stop();
    const std::uint64_t end = round_ + 4 * kLogBytes / bytes;
    while (Disk::get().waiting() == 0 && round_ < end) {
      EXPECT_EQ(pause_after_round(bytes), kNone);
      if (log_bytes() >= kLogBytes) break;
    }
    while (Disk::get().waiting() == 0) std::this_thread::yield();
  }
  void end_copy() {
    Disk::get().go_on();
    do {
      while (!do_work()) std::this_thread::yield();
      pause_after_round(1);  // a log that is copied begins anew with a record
    } while (log_bytes() >= kLogBytes);
  }
  bool do_work() {
    const std::lock_guard lock(mutex_);
    const auto works = std::exchange(works_, {});
    for (const auto& work : works) work();
    return !works.empty();
  }
  std::uint64_t log_bytes() { return writer_->journal().database().log().bytes(); }

  store_testing::Folder folder_;
  ManualClock clock_;
  MemoryLog log_;
  std::mutex mutex_;
  std::vector<std::function<void()>> works_;  // guarded by mutex_
  std::unique_ptr<JournalWriter> writer_;
  std::uint64_t round_ = 0;
};

// A copy of 6 s measures the disk anew for each log, however many bytes the log before had. Only a
// copy that takes long delays rounds.
TEST_F(RoundsOfASlowDisk, WaitAsLongAsTheDiskNeedsForTheirRows) {
  for (const std::size_t bytes : {std::size_t{16} << 10, std::size_t{100} << 10}) {
    begin_copy(bytes);
    clock_.advance(kLong);
    end_copy();
  }
  begin_copy(kPayloadBytes);
  while (!fs::exists(folder_ / "run.db-recent")) {
    ASSERT_EQ(pause_after_round(kPayloadBytes), kNone) << "the copy has just begun";
  }
  ASSERT_EQ(pause_after_round(kPayloadBytes), kNone);
  clock_.advance(kLong);
  EXPECT_EQ(pause_after_round(kPayloadBytes), kNone) << "it has waited for as long";
  // The rows have 900 bytes, of which the disk writes about 175,000 in a second.
  const std::chrono::nanoseconds pause = pause_after_round(kPayloadBytes);
  EXPECT_GT(pause, std::chrono::milliseconds(5));
  EXPECT_LT(pause, std::chrono::milliseconds(20));
}

}  // namespace
}  // namespace tributary
