// Tests of the storage thread of the coordinator with a real journal.
#include "coordinator/coordinator_storage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/log/log.h"
#include "core/base/log/memory_log_testing.h"
#include "core/service/loop/posted_events_testing.h"
#include "core/store/coordinator/run_file.h"
#include "core/store/testing/folder_testing.h"
#include "core/store/testing/small_disk_testing.h"

namespace tributary {
namespace {

class CoordinatorStorageTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = CoordinatorStorage::open(
        {.journal = {.path = folder_ / "run.db", .durability = Durability::stop}},
        {.post = events_.poster(), .clock = clock_, .log = log_});
    ASSERT_TRUE(opened.ok()) << opened.status().text();
    storage_ = std::move(*opened);
  }
  store_testing::Folder folder_;
  SystemClock clock_;
  MemoryLog log_;
  service_testing::PostedEvents events_;
  std::unique_ptr<CoordinatorStorage> storage_;  // destroyed before the queue that it posts to
};

// A round that the journal does not contain is answered with an empty round.
TEST_F(CoordinatorStorageTest, ARoundThatIsNotThereIsAnsweredAllTheSame) {
  ASSERT_TRUE(storage_->restore().ok());
  storage_->load({.token = 7, .job = 1, .round = 5});
  EXPECT_EQ(events_.next<RoundLoaded>().token, 7u);
}

// The journal's thread works in order, so an answer shows that everything before it is done.
TEST_F(CoordinatorStorageTest, AReaderThatBlocksTheLogIsNotedOnce) {
  ManualClock clock;
  std::vector<std::string> notes;
  auto opened = CoordinatorStorage::open(
      {.journal = {.path = folder_ / "blocked.db",
                   .durability = Durability::stop,
                   .log_bytes = 64u << 10}},
      {.post = events_.poster(), .clock = clock, .log = log_, .note = [&](const Note& note) {
         notes.push_back(std::string(note.name) + ": " + note.text);
       }});
  ASSERT_TRUE(opened.ok()) << opened.status().text();
  CoordinatorStorage& storage = **opened;
  const auto run = RunFile::open(folder_ / "blocked.db");
  ASSERT_TRUE(run.ok()) << run.status().text();
  ASSERT_EQ((*run)->database().execute("BEGIN").text(), "ok");
  ASSERT_TRUE((*run)->jobs().ok());
  const auto write = [&] {
    for (int i = 0; i < 200; ++i) storage.telemetry().event({.text = std::string(1000, 'x')});
    storage.store_telemetry();
    storage.load({.token = 1, .job = 1, .round = 1});
    events_.next<RoundLoaded>();
  };
  write();
  EXPECT_TRUE(notes.empty());
  // Copies are made on another thread, so each write may see one or none that has ended.
  for (int i = 0; i < 1000 && notes.empty(); ++i, clock.advance(std::chrono::seconds(10))) write();
  for (int i = 0; i < 5; ++i) write();
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_THAT(notes[0], testing::AllOf(testing::StartsWith("journal_log_blocked: "),
                                       testing::HasSubstr("blocked.db"), testing::HasSubstr("MB")));
  ASSERT_EQ((*run)->database().execute("COMMIT").text(), "ok");
}

// Each look at it takes some seconds, like a copy to a slow disk.
class SlowClock final : public Clock {
 public:
  explicit SlowClock(std::chrono::seconds step) : step_(step) {}
  std::chrono::nanoseconds now() const override {
    time_.advance(step_);
    return time_.now();
  }
  std::chrono::system_clock::time_point wall_time() const override { return time_.wall_time(); }

 private:
  const std::chrono::seconds step_;
  mutable ManualClock time_;
};

TEST_F(CoordinatorStorageTest, ASlowCopyOfTheLogIsReported) {
  for (const int seconds : {6, 2}) {
    const SlowClock clock{std::chrono::seconds(seconds)};
    MemoryLog log;
    auto opened = CoordinatorStorage::open(
        {.journal = {.path = folder_ / ("slow" + std::to_string(seconds) + ".db"),
                     .durability = Durability::stop,
                     .log_bytes = 64u << 10}},
        {.post = events_.poster(), .clock = clock, .log = log});
    ASSERT_TRUE(opened.ok()) << opened.status().text();
    for (int i = 0; i < 200; ++i) (*opened)->telemetry().event({.text = std::string(1000, 'x')});
    (*opened)->store_telemetry();
    // The copy ends at some time after the first answer.
    for (int i = 0; i < 1'000'000 && log.entries().empty() && (seconds > 5 || i < 100); ++i) {
      (*opened)->load({.token = 1, .job = 1, .round = 1});
      events_.next<RoundLoaded>();
    }
    const auto entries = log.entries();
    ASSERT_EQ(entries.size(), seconds > 5 ? 1u : 0u);
    if (entries.empty()) continue;
    EXPECT_THAT(entries[0].message, testing::StartsWith("the disk is slow: the journal's log"));
    EXPECT_EQ(entries[0].fields[0], std::pair(std::string("copy_s"), std::string("6")));
  }
}

// The file alone has what was stored, although a reader has it open.
TEST_F(CoordinatorStorageTest, TheJournalIsOneFileAtTheEnd) {
  const auto run = RunFile::open(folder_ / "run.db");
  ASSERT_TRUE(run.ok()) << run.status().text();
  storage_->telemetry().event({.name = "last_event"});
  storage_->end();
  storage_->keep_rest();
  storage_.reset();
  EXPECT_TRUE(log_.entries().empty());
  std::filesystem::copy_file(folder_ / "run.db", folder_ / "alone.db");
  const auto alone = RunFile::open(folder_ / "alone.db");
  ASSERT_TRUE(alone.ok()) << alone.status().text();
  EXPECT_EQ((*alone)->events(0, 10)->size(), 1u);
  EXPECT_FALSE((*alone)->missing()->any());
}

// 60 rounds with results of 1 MB, and a model of 4 MB in every fourth: more than three times the
// disk. A second file beside the journal would need room that the journal lacks.
std::string rounds_on_a_small_disk(const std::string& file) {
  SystemClock clock;
  MemoryLog log;
  service_testing::PostedEvents events;
  auto opened =
      CoordinatorStorage::open({.journal = {.path = file, .durability = Durability::seconds_30}},
                               {.post = events.poster(), .clock = clock, .log = log});
  if (!opened.ok()) return opened.status().text();
  const auto store = [&](const CoordinatorRecord& record) -> Status {
    StoreCoordinator request;
    request.record = record;
    (*opened)->store(request);
    return events.next<Stored>().status;
  };
  NewJobRecord job;
  job.job.job = job.checkpoint.job = 1;
  if (Status status = store(job); !status.ok()) return status.text();
  CommitRecord commit;
  commit.redo.push_back({.bucket = 0, .stage = 0, .payload = std::make_shared<Bytes>(1u << 20)});
  for (std::uint64_t round = 1; round <= 60; ++round) {
    commit.round.id = {.job = 1, .round = round, .epoch = 1, .attempt = 0};
    commit.checkpoint.reset();
    if (round % 4 == 0) {
      commit.checkpoint = CheckpointRecord{
          .job = 1, .model_version = round, .model_hash = 0, .model = {}, .rule_state = {}};
      commit.checkpoint->model = std::make_shared<FloatVector>(1u << 20, static_cast<float>(round));
    }
    Status status = store(commit);
    if (status.code() == StatusCode::resource_exhausted) status = store(commit);
    if (!status.ok()) return "round " + std::to_string(round) + ": " + status.text();
    if (std::filesystem::exists(file + "-recent")) return "a second file";
  }
  opened->reset();
  const auto run = RunFile::open(file);
  if (!run.ok()) return run.status().text();
  return (*run)->rounds(1, 1, 100)->size() == 60 ? "ok" : "rounds are missing";
}

TEST(CoordinatorStorageOnASmallDisk, RoundsGoOn) {
  const store_testing::Folder folder;
  const store_testing::OnSmallDisk disk = store_testing::on_small_disk(
      folder / "", 40u << 20, [&] { return rounds_on_a_small_disk(folder / "run.db"); });
  if (!disk.skipped.empty()) GTEST_SKIP() << disk.skipped;
  EXPECT_EQ(disk.outcome, "ok");
}

// A batch in progress and the buffered rows are both written at the end.
TEST_F(CoordinatorStorageTest, BufferedTelemetryIsStoredWhenTheStorageEnds) {
  ASSERT_TRUE(storage_->restore().ok());
  storage_->telemetry().metric({.kind = ReadingKind::agents, .value = 1});
  storage_->store_telemetry();
  storage_->telemetry().metric({.kind = ReadingKind::model_version, .value = 2});
  storage_->store_telemetry();
  storage_->end();
  storage_->keep_rest();
  EXPECT_EQ(storage_->telemetry().take().size(), 0u);
  EXPECT_EQ(storage_->telemetry().dropped(), 0u);
  storage_.reset();
  const auto run = RunFile::open(folder_ / "run.db");
  ASSERT_TRUE(run.ok()) << run.status().text();
}

}  // namespace
}  // namespace tributary
