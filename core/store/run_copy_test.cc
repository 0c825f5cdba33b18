// A coordinator's journal as one file: closed, copied while it is written, and without its log.
#include "core/store/coordinator/run_copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>

#include "core/store/coordinator/coordinator_journal.h"
#include "core/store/coordinator/recent/recent_rounds.h"
#include "core/store/coordinator/run_file.h"
#include "core/store/database/file_lock.h"
#include "core/store/testing/describe_testing.h"
#include "core/store/testing/folder_testing.h"

namespace tributary::store_testing {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kCopiedJob = 7;

class JournalAsOneFile : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = CoordinatorJournal::open(
        {.journal = {
             .path = run_, .durability = Durability::stop, .log_bytes = std::uint64_t{64} << 10}});
    ASSERT_TRUE(opened.ok()) << opened.status().text();
    journal_ = std::move(*opened);
    NewJobRecord job;
    job.job.job = job.checkpoint.job = kCopiedJob;
    job.job.policy.codec = "fp32";
    ASSERT_EQ(journal_->store(job).text(), "ok");
  }

  void store_round(std::uint64_t number) {
    CommitRecord commit;
    commit.round.id = {kCopiedJob, number, 1, 0};
    commit.redo.push_back({.payload = std::make_shared<Bytes>(3'000)});
    ASSERT_EQ(journal_->store(commit).text(), "ok");
  }
  void store_rounds(std::uint64_t rounds) {
    for (std::uint64_t i = 0; i < rounds; ++i) store_round(++stored_);
  }

  // So large that the journal is copied in several steps.
  void store_large_round() {
    CommitRecord commit;
    commit.round.id = {kCopiedJob, ++stored_, 1, 0};
    commit.redo.push_back({.payload = std::make_shared<Bytes>(std::size_t{20} << 20)});
    ASSERT_EQ(journal_->store(commit).text(), "ok");
  }

  // The rounds in the file when no other file is beside it.
  std::uint64_t rounds_alone(const std::string& file) {
    const std::string alone = folder_ / "alone.db";
    fs::copy_file(file, alone, fs::copy_options::overwrite_existing);
    for (const char* end : {"-wal", "-shm"}) fs::remove(alone + end);
    const auto run = RunFile::open(alone);
    EXPECT_TRUE(run.ok()) << run.status().text();
    const auto last = (*run)->last_round(kCopiedJob);
    EXPECT_TRUE(last.ok()) << last.status().text();
    return last.ok() ? *last : 0;
  }
  bool misses_log(const std::string& file) {
    const auto run = RunFile::open(file);
    EXPECT_TRUE(run.ok()) << run.status().text();
    const Result<MissingRounds> missing = (*run)->missing();
    EXPECT_TRUE(missing.ok()) << missing.status().text();
    return missing.ok() && missing->log_missing;
  }

  Folder folder_;
  const std::string run_ = folder_ / "run.db";
  const std::string copy_ = folder_ / "copy.db";
  std::unique_ptr<CoordinatorJournal> journal_;
  std::uint64_t stored_ = 0;
};

// A reader keeps the file open, but no transaction. SQLite itself leaves the log then.
TEST_F(JournalAsOneFile, HasEverythingWhenItIsClosedAlthoughAReaderHasItOpen) {
  const auto reader = RunFile::open(run_);
  ASSERT_TRUE(reader.ok()) << reader.status().text();
  store_rounds(5);
  ASSERT_EQ(*(*reader)->last_round(kCopiedJob), 5u);
  ASSERT_LT(rounds_alone(run_), 5u) << "the test is about rounds in the log";
  EXPECT_EQ(journal_->close().text(), "ok");
  EXPECT_EQ(fs::file_size(run_ + "-wal"), 0u);
  EXPECT_EQ(rounds_alone(run_), 5u);
  EXPECT_FALSE(misses_log(folder_ / "alone.db"));
  journal_.reset();
  EXPECT_EQ(rounds_alone(run_), 5u);
}

// The file without its log lacks rounds, and says so.
TEST_F(JournalAsOneFile, IsClosedWhenTheReadersTransactionHasEnded) {
  const auto reader = RunFile::open(run_);
  ASSERT_TRUE(reader.ok()) << reader.status().text();
  store_rounds(3);
  ASSERT_EQ((*reader)->database().execute("BEGIN").text(), "ok");
  ASSERT_TRUE((*reader)->last_round(kCopiedJob).ok());
  store_rounds(4);
  EXPECT_EQ(journal_->close().code(), StatusCode::unavailable);
  EXPECT_LT(rounds_alone(run_), 7u);
  EXPECT_TRUE(misses_log(folder_ / "alone.db"));
  EXPECT_FALSE(misses_log(run_)) << "its log is beside it";
  ASSERT_EQ((*reader)->database().execute("COMMIT").text(), "ok");
  EXPECT_EQ(*(*reader)->last_round(kCopiedJob), 7u);
  EXPECT_EQ(journal_->close().text(), "ok");
  EXPECT_EQ(rounds_alone(run_), 7u);
  EXPECT_FALSE(misses_log(folder_ / "alone.db"));
}

// While a transaction lasts, the log stays long after every copying of it.
TEST_F(JournalAsOneFile, KnowsThatATransactionBlocksItsLog) {
  const auto reader = RunFile::open(run_);
  ASSERT_TRUE(reader.ok()) << reader.status().text();
  ASSERT_EQ((*reader)->database().execute("BEGIN").text(), "ok");
  ASSERT_TRUE((*reader)->last_round(kCopiedJob).ok());
  while (!journal_->rest() && stored_ < 1000) store_rounds(1);
  for (int i = 0; i < 10; ++i) {
    store_rounds(1);
    EXPECT_TRUE(journal_->rest()) << i;
  }
  ASSERT_EQ((*reader)->database().execute("COMMIT").text(), "ok");
  journal_->rest();
  store_rounds(1);
  EXPECT_FALSE(journal_->rest());
}

TEST_F(JournalAsOneFile, KnowsNothingOfALogOfAnEarlierVersion) {
  store_rounds(2);
  fs::copy_file(run_, copy_);
  EXPECT_TRUE(misses_log(copy_));
  {
    auto database = Database::open(copy_, {.sync = false});
    ASSERT_TRUE(database.ok()) << database.status().text();
    ASSERT_EQ((*database)
                  ->execute("ALTER TABLE runs DROP COLUMN closed_wall_ns; PRAGMA user_version = 3")
                  .text(),
              "ok");
  }
  EXPECT_FALSE(misses_log(copy_));
}

// --- copies ------------------------------------------------------------------------------------

TEST_F(JournalAsOneFile, IsCopiedWithItsLog) {
  store_rounds(5);
  ASSERT_LT(rounds_alone(run_), 5u);
  const auto copied = copy_run({.run_file = run_, .copy = copy_});
  ASSERT_TRUE(copied.ok()) << copied.status().text();
  EXPECT_EQ(copied->jobs, 1u);
  EXPECT_EQ(copied->rounds, 5u);
  EXPECT_EQ(copied->bytes, fs::file_size(copy_));
  EXPECT_FALSE(copied->missing.log_missing);
  EXPECT_EQ(rounds_alone(copy_), 5u);
  EXPECT_FALSE(misses_log(copy_));
  EXPECT_EQ(fs::status(copy_).permissions(), fs::perms::owner_read | fs::perms::owner_write);

  // A coordinator continues from the copy, and the run itself goes on.
  store_rounds(1);
  const auto other =
      CoordinatorJournal::open({.journal = {.path = copy_, .durability = Durability::stop}});
  ASSERT_TRUE(other.ok()) << other.status().text();
  const auto state = (*other)->restore();
  ASSERT_TRUE(state.ok()) << state.status().text();
  EXPECT_EQ(state->jobs.at(0).redo.size(), 5u);
}

// The copy is the journal of one moment, however often the writer commits meanwhile.
TEST_F(JournalAsOneFile, IsCopiedWhileItIsWritten) {
  store_rounds(200);
  std::atomic<bool> done = false;
  const auto copying = std::async(std::launch::async, [&] {
    for (int i = 0; i < 5; ++i) {
      const auto copied = copy_run({.run_file = run_, .copy = copy_, .replace = true});
      EXPECT_TRUE(copied.ok()) << copied.status().text();
      if (!copied.ok()) break;
      EXPECT_GE(copied->rounds, 200u);
      const auto copy = RunFile::open(copy_);
      EXPECT_TRUE(copy.ok()) << copy.status().text();
      if (!copy.ok()) break;
      EXPECT_EQ(*(*copy)->last_round(kCopiedJob), copied->rounds) << "no round is missing";
      std::string sound;
      EXPECT_TRUE((*copy)->database().first("PRAGMA integrity_check", std::tie(sound)).ok());
      EXPECT_EQ(sound, "ok");
    }
    done = true;
  });
  while (!done) store_rounds(1);
}

// A copy that began again with each commit would never end beside a busy coordinator.
TEST_F(JournalAsOneFile, IsCopiedInOnePassAlthoughARoundIsCommittedInEachStep) {
  store_large_round();
  int steps = 0;
  const auto copied =
      copy_run({.run_file = run_, .copy = copy_, .progress = [&](std::uint64_t, std::uint64_t) {
                  store_rounds(1);
                  return ++steps < 20;
                }});
  ASSERT_TRUE(copied.ok()) << copied.status().text();
  EXPECT_GT(steps, 1);
  EXPECT_EQ(copied->rounds, 1u) << "those at the beginning";
}

TEST_F(JournalAsOneFile, IsNotCopiedOverAFileUnlessAsked) {
  store_rounds(2);
  std::ofstream(copy_) << "thesis";
  const auto refused = copy_run({.run_file = run_, .copy = copy_});
  EXPECT_EQ(refused.status().code(), StatusCode::already_exists);
  EXPECT_THAT(refused.status().text(), testing::HasSubstr("--force"));
  EXPECT_EQ(fs::file_size(copy_), 6u);
  EXPECT_TRUE(copy_run({.run_file = run_, .copy = copy_, .replace = true}).ok());
  EXPECT_EQ(rounds_alone(copy_), 2u);
  EXPECT_EQ(copy_run({.run_file = run_, .copy = run_, .replace = true}).status().code(),
            StatusCode::invalid_argument);
}

// SQLite would take an old log for that of the new file.
TEST_F(JournalAsOneFile, IsCopiedWithoutTheLogOfTheFileBefore) {
  store_rounds(2);
  fs::copy_file(run_, copy_);
  fs::copy_file(run_ + "-wal", copy_ + "-wal");
  store_rounds(3);
  ASSERT_TRUE(copy_run({.run_file = run_, .copy = copy_, .replace = true}).ok());
  const auto copy = RunFile::open(copy_);
  ASSERT_TRUE(copy.ok()) << copy.status().text();
  EXPECT_EQ(*(*copy)->last_round(kCopiedJob), 5u);
}

TEST_F(JournalAsOneFile, IsNotCopiedOverAJournalInUse) {
  store_rounds(2);
  ASSERT_TRUE(copy_run({.run_file = run_, .copy = copy_}).ok());
  const auto used =
      CoordinatorJournal::open({.journal = {.path = copy_, .durability = Durability::stop}});
  ASSERT_TRUE(used.ok()) << used.status().text();
  const auto refused = copy_run({.run_file = run_, .copy = copy_, .replace = true});
  EXPECT_EQ(refused.status().code(), StatusCode::already_exists);
  EXPECT_THAT(refused.status().text(), testing::HasSubstr("process"));
}

TEST_F(JournalAsOneFile, LeavesNothingOfACopyThatWasStopped) {
  store_rounds(2);
  store_large_round();
  const auto stopped =
      copy_run({.run_file = run_, .copy = copy_, .progress = [](std::uint64_t, std::uint64_t) {
                  return false;
                }});
  EXPECT_EQ(stopped.status().code(), StatusCode::cancelled);
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(copy_).parent_path())) {
    EXPECT_THAT(entry.path().filename().string(), testing::StartsWith("run.db"));
  }
}

// The copy of a file without its log cannot have more rounds, and says so.
TEST_F(JournalAsOneFile, SaysInACopyThatTheLogWasMissing) {
  store_rounds(2);
  const std::string alone = folder_ / "alone.db";
  fs::copy_file(run_, alone);
  const auto copied = copy_run({.run_file = alone, .copy = copy_});
  ASSERT_TRUE(copied.ok()) << copied.status().text();
  EXPECT_TRUE(copied->missing.log_missing);
  EXPECT_TRUE(misses_log(copy_));
}

// --- rounds beside the journal -----------------------------------------------------------------

class JournalWithRoundsBeside : public JournalAsOneFile {
 protected:
  // The residual of the sums is a large chunk.
  static constexpr std::uint64_t kResidualBytes = 4'000;

  // Opens the journal as a coordinator of this start of the machine, or of another one.
  void store_beside(std::uint64_t rounds, std::string boot_id = {}) {
    recent_ = std::make_unique<RecentRounds>(
        *journal_, CoordinatorJournalOptions{.journal = {.path = run_,
                                                         .boot_id = std::move(boot_id),
                                                         .large_chunk_bytes = kResidualBytes}});
    for (std::uint64_t i = 0; i < rounds; ++i) {
      CommitRecord commit;
      commit.round.id = {kCopiedJob, ++stored_, 1, 0};
      commit.redo.push_back({.payload = std::make_shared<Bytes>(3'000)});
      commit.aggregator_residual = std::make_shared<FloatVector>(kResidualBytes / sizeof(float),
                                                                 static_cast<float>(stored_));
      commit.reports.push_back({.id = commit.round.id, .agent_id = "a"});
      ASSERT_EQ(recent_->store(commit).text(), "ok");
    }
  }
  MissingRounds missing(const std::string& file) {
    const auto run = RunFile::open(file);
    EXPECT_TRUE(run.ok()) << run.status().text();
    const auto found = (*run)->missing();
    EXPECT_TRUE(found.ok()) << found.status().text();
    return found.ok() ? *found : MissingRounds();
  }

  std::unique_ptr<RecentRounds> recent_;
};

TEST_F(JournalWithRoundsBeside, IsReadWithAWordOnThem) {
  store_rounds(2);
  EXPECT_FALSE(missing(run_).any());
  store_beside(3);
  EXPECT_EQ(missing(run_), MissingRounds{.beside = 3});
  EXPECT_THAT(missing(run_).text("run.db"), testing::HasSubstr("missing: 3."));
  ASSERT_EQ(recent_->move().text(), "ok");
  EXPECT_FALSE(missing(run_).any());
}

// For a moment, the rounds are in both journals.
TEST_F(JournalWithRoundsBeside, DoesNotCountRoundsThatAreInBoth) {
  store_rounds(2);
  store_beside(3);
  stored_ = 2;
  store_rounds(3);
  EXPECT_FALSE(missing(run_).any());
  const auto copied = copy_run({.run_file = run_, .copy = copy_});
  ASSERT_TRUE(copied.ok()) << copied.status().text();
  EXPECT_EQ(copied->rounds, 5u);
  EXPECT_EQ(copied->rounds_beside, 0u);
}

// The coordinator goes on, and the copy is what it has after it has moved the rounds.
TEST_F(JournalWithRoundsBeside, IsCopiedWithThem) {
  store_rounds(2);
  store_beside(3);
  const auto copied = copy_run({.run_file = run_, .copy = copy_});
  ASSERT_TRUE(copied.ok()) << copied.status().text();
  EXPECT_EQ(copied->rounds, 5u);
  EXPECT_EQ(copied->rounds_beside, 3u);
  EXPECT_FALSE(copied->missing.any());
  EXPECT_EQ(rounds_alone(copy_), 5u);
  EXPECT_FALSE(missing(copy_).any());
  EXPECT_EQ(missing(run_).beside, 3u);
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(copy_).parent_path())) {
    EXPECT_THAT(entry.path().filename().string(), testing::Not(testing::HasSubstr(".tmp")));
  }
  {
    const auto of_copy = RunFile::open(copy_);
    const auto of_run = RunFile::open(run_);
    std::uint64_t runs = 0;
    std::uint64_t runs_copied = 0;
    ASSERT_TRUE(*(*of_run)->database().first("SELECT count(*) FROM runs", std::tie(runs)));
    ASSERT_TRUE(*(*of_copy)->database().first("SELECT count(*) FROM runs", std::tie(runs_copied)));
    EXPECT_EQ(runs_copied, runs);
    EXPECT_EQ((*of_copy)->agent_rounds(kCopiedJob, 1, stored_)->size(), 3u);
  }
  ASSERT_EQ(recent_->move().text(), "ok");
  const auto other =
      CoordinatorJournal::open({.journal = {.path = copy_, .durability = Durability::stop}});
  ASSERT_TRUE(other.ok()) << other.status().text();
  EXPECT_EQ(described(*(*other)->restore()), described(*journal_->restore()));
}

// The system may have written any part of them.
TEST_F(JournalWithRoundsBeside, IsCopiedWithoutThoseOfBeforeAStartOfTheMachine) {
  store_rounds(2);
  store_beside(3, "an earlier start");
  EXPECT_TRUE(missing(run_).beside_may_be_damaged);
  const auto copied = copy_run({.run_file = run_, .copy = copy_});
  ASSERT_TRUE(copied.ok()) << copied.status().text();
  EXPECT_EQ(copied->rounds, 2u);
  EXPECT_EQ(copied->missing, (MissingRounds{.beside = 3, .beside_may_be_damaged = true}));
  EXPECT_EQ(missing(run_).beside, 3u) << "the coordinator's own file is not touched";
}

// A file that is no journal hides nothing of the run.
TEST_F(JournalWithRoundsBeside, IsReadBesideAFileThatCannotBeRead) {
  store_rounds(2);
  std::ofstream(run_ + "-recent") << "no journal at all, but long enough for a header";
  EXPECT_TRUE(missing(run_).beside_unreadable);
  EXPECT_THAT(missing(run_).text("run.db"), testing::HasSubstr("cannot be read"));
  const auto copied = copy_run({.run_file = run_, .copy = copy_});
  ASSERT_TRUE(copied.ok()) << copied.status().text();
  EXPECT_EQ(copied->rounds, 2u);
  EXPECT_TRUE(copied->missing.beside_unreadable);
}

}  // namespace
}  // namespace tributary::store_testing
