// The residuals of a coordinator's aggregators, which are beside its database: how often they are
// written, which one belongs to which round, and what the coordinator has after damage.
#include "core/store/coordinator/residuals/aggregator_residuals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "core/store/coordinator/coordinator_journal.h"
#include "core/store/coordinator/run_copy.h"
#include "core/store/testing/folder_testing.h"

namespace tributary::store_testing {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSumsJob = 7;
constexpr std::uint64_t kSumsValues = 1'200'000;
constexpr std::uint64_t kSumsBytes = kSumsValues * sizeof(float);

class ResidualsOfSums : public testing::Test {
 protected:
  void SetUp() override {
    open();
    NewJobRecord job;
    job.job.job = job.checkpoint.job = kSumsJob;
    job.job.policy.codec = "threelc";
    ASSERT_EQ(journal_->store(job).text(), "ok");
  }

  // A new process; the one before was killed, unless it has closed the journal.
  void open(JournalOptions options = {}) {
    journal_.reset();
    options.path = run_;
    options.durability = Durability::stop;
    auto opened = CoordinatorJournal::open({.journal = options});
    ASSERT_TRUE(opened.ok()) << opened.status().text();
    journal_ = std::move(*opened);
  }
  static FloatVector residual_of(std::uint64_t round, std::uint64_t values = kSumsValues) {
    FloatVector residual(values, static_cast<float>(round));
    // No two pages are equal.
    for (std::uint64_t i = 0; i < values; i += 256) residual[i] += static_cast<float>(i);
    return residual;
  }
  void store_round(std::uint64_t values = kSumsValues) {
    CommitRecord commit;
    commit.round.id = {kSumsJob, ++round_, 1, 0};
    commit.aggregator_residual = std::make_shared<FloatVector>(residual_of(round_, values));
    ASSERT_EQ(journal_->store(commit).text(), "ok");
  }
  RestoredJob restored() {
    auto state = journal_->restore();
    EXPECT_TRUE(state.ok()) << state.status().text();
    return state.ok() && !state->jobs.empty() ? std::move(state->jobs.front()) : RestoredJob{};
  }
  void expect_intact() {
    const RestoredJob job = restored();
    EXPECT_TRUE(journal_->residual_damage().empty());
    ASSERT_NE(job.aggregator_residual, nullptr);
    EXPECT_EQ(job.redo.back().round.id.round, round_);
    EXPECT_TRUE(*job.aggregator_residual == residual_of(round_));
  }
  std::uint64_t number(const std::string& sql) {
    std::uint64_t number = 0;
    EXPECT_TRUE(journal_->database().first(sql, std::tie(number)).ok());
    return number;
  }
  void tear(std::uint64_t offset) {
    std::fstream file(vectors_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset));
    file << "torn";
  }

  Folder folder_;
  const std::string run_ = folder_ / "run.db";
  const std::string vectors_ = run_ + "-vectors";
  std::unique_ptr<CoordinatorJournal> journal_;
  std::uint64_t round_ = 0;
};

TEST_F(ResidualsOfSums, TakeTurnsInTwoPlacesAndAreNotInTheLog) {
  store_round();
  const std::uint64_t pages = journal_->database().bytes_written();
  for (int i = 0; i < 10; ++i) store_round();
  EXPECT_LE(journal_->database().bytes_written() - pages, kSumsBytes / 8) << "of ten rounds";
  EXPECT_LE(fs::file_size(vectors_), 2 * (kSumsBytes + 5 * FileExtents::kAlignment));
  open();
  expect_intact();
}

TEST_F(ResidualsOfSums, AreNotBesideTheDatabaseIfTheyAreShort) {
  store_round(100);
  EXPECT_FALSE(fs::exists(vectors_));
}

// The place of the residual before has the bytes of the one whose commit does not exist.
TEST_F(ResidualsOfSums, OfARoundThatIsNotCommittedReplaceNothing) {
  store_round();
  store_round();
  const std::string log = run_ + "-wal";
  fs::copy_file(run_, folder_ / "before.db");
  fs::copy_file(log, folder_ / "before.db-wal");
  store_round();
  // As if the process had been killed after the vectors and before the commit.
  journal_.reset();
  fs::copy_file(folder_ / "before.db", run_, fs::copy_options::overwrite_existing);
  fs::copy_file(folder_ / "before.db-wal", log, fs::copy_options::overwrite_existing);
  --round_;
  open();
  expect_intact();
}

TEST_F(ResidualsOfSums, WithATornChunkLoseThisChunkAndSaySoOnce) {
  store_round();
  store_round();
  const std::uint64_t slot = number(
      "SELECT slot FROM blob_chunks JOIN jobs ON blob = aggregator_residual WHERE place = 1");
  tear(slot + 1000);
  open();
  const RestoredJob job = restored();
  ASSERT_EQ(journal_->residual_damage().size(), 1u);
  EXPECT_EQ(journal_->residual_damage()[0].job, kSumsJob);
  constexpr std::uint64_t kChunk = kChunkBytes / sizeof(float);
  EXPECT_EQ(journal_->residual_damage()[0].values, kChunk);
  FloatVector expected = residual_of(round_);
  std::fill_n(expected.begin() + kChunk, kChunk, 0.0f);
  ASSERT_NE(job.aggregator_residual, nullptr);
  EXPECT_TRUE(*job.aggregator_residual == expected);
  constexpr const char* kEvents =
      "SELECT count(*) FROM events WHERE name = 'aggregator_residual_damaged'";
  EXPECT_EQ(number(kEvents), 1u);
  open();
  EXPECT_TRUE(*restored().aggregator_residual == expected);
  EXPECT_TRUE(journal_->residual_damage().empty());
  EXPECT_EQ(number(kEvents), 1u);
}

// Both places, as if the system had never written the file.
TEST_F(ResidualsOfSums, OfWhichNothingIsLeftAreDroppedAndTheModelStays) {
  store_round();
  store_round();
  journal_.reset();
  fs::resize_file(vectors_, 0);
  open();
  const RestoredJob job = restored();
  ASSERT_EQ(journal_->residual_damage().size(), 1u);
  EXPECT_EQ(journal_->residual_damage()[0].values, kSumsValues);
  EXPECT_EQ(job.redo.size(), 2u);
  if (job.aggregator_residual) {
    EXPECT_THAT(*job.aggregator_residual, testing::Each(0.0f));
  }
  store_round();
  open();
  expect_intact();
}

TEST_F(ResidualsOfSums, AreInTheFileOfAClosedJournal) {
  store_round();
  ASSERT_EQ(journal_->close().text(), "ok");
  EXPECT_FALSE(fs::exists(vectors_));
  journal_.reset();
  fs::copy_file(run_, folder_ / "alone.db");
  fs::remove(run_);
  fs::rename(folder_ / "alone.db", run_);
  open();
  expect_intact();
  store_round();
  EXPECT_TRUE(fs::exists(vectors_));
  open();
  expect_intact();
}

// A journal of version 4 has all chunks as rows. They stay there until they are replaced.
TEST_F(ResidualsOfSums, OfVersion4BecomeVectorsWithTheNextRound) {
  open({.large_chunk_bytes = UINT64_MAX});
  store_round();
  EXPECT_FALSE(fs::exists(vectors_));
  ASSERT_EQ(journal_->database()
                .execute("ALTER TABLE blob_chunks DROP COLUMN slot; PRAGMA user_version = 4")
                .text(),
            "ok");
  open();
  expect_intact();
  store_round();
  EXPECT_GE(fs::file_size(vectors_), kSumsBytes);
  open();
  expect_intact();
}

TEST_F(ResidualsOfSums, AreInACopyOfALiveJournal) {
  store_round();
  store_round();
  const auto copied = copy_run({.run_file = run_, .copy = folder_ / "copy.db"});
  ASSERT_TRUE(copied.ok()) << copied.status().text();
  EXPECT_EQ(copied->residual_bytes_missing, 0u);
  journal_.reset();
  for (const char* end : {"", "-wal", "-shm", "-vectors"}) fs::remove(run_ + end);
  fs::rename(folder_ / "copy.db", run_);
  open();
  expect_intact();
}

TEST_F(ResidualsOfSums, ThatACopyLacksAreCounted) {
  store_round();
  fs::remove(vectors_);
  const auto copied = copy_run({.run_file = run_, .copy = folder_ / "copy.db"});
  ASSERT_TRUE(copied.ok()) << copied.status().text();
  EXPECT_EQ(copied->residual_bytes_missing, kSumsBytes);
}

}  // namespace
}  // namespace tributary::store_testing
