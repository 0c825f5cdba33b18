#include "core/store/database/write_ahead_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/store/database/database.h"
#include "core/store/testing/folder_testing.h"
#include "core/store/testing/small_disk_testing.h"

namespace tributary::store_testing {
namespace {

constexpr std::size_t kValueBytes = 20'000;

// The log of a database with one table of large values.
class Log : public testing::Test {
 protected:
  void open(std::uint64_t log_bytes) {
    // Pages beyond a small cache go to the log before the commit.
    auto database =
        Database::open(path_, {.sync = false, .log_bytes = log_bytes, .cache_bytes = 64u << 10});
    ASSERT_TRUE(database.ok()) << database.status().text();
    database_ = std::move(*database);
    ASSERT_TRUE(database_->execute("CREATE TABLE t (a)").ok());
  }
  Status insert(int count) {
    for (int i = 0; i < count; ++i) {
      TRIBUTARY_TRY(database_->run("INSERT INTO t (a) VALUES (?)", Bytes(kValueBytes)));
    }
    return {};
  }
  Status commit(int count) {
    TRIBUTARY_ASSIGN(Transaction transaction, Transaction::begin(*database_));
    TRIBUTARY_TRY(insert(count));
    return transaction.commit();
  }
  void roll_back(int count) {
    const auto transaction = Transaction::begin(*database_);
    ASSERT_TRUE(transaction.ok());
    ASSERT_TRUE(insert(count).ok());
  }
  std::uint64_t rows() {
    std::uint64_t count = 0;
    EXPECT_TRUE(database_->first("SELECT count(*) FROM t", std::tie(count)).ok());
    return count;
  }
  std::uint64_t bytes() const { return std::filesystem::file_size(path_ + "-wal"); }

  Folder folder_;
  const std::string path_ = folder_ / "test.db";
  std::unique_ptr<Database> database_;
};

TEST_F(Log, IsCopiedBeforeItGrowsLong) {
  open(256u << 10);
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(commit(1).ok());
    ASSERT_LE(bytes(), 400u << 10);
  }
  EXPECT_EQ(rows(), 200u);
}

TEST_F(Log, IsCopiedOnlyIfItIsLong) {
  open(256u << 10);
  ASSERT_TRUE(commit(1).ok());
  const std::uint64_t before = std::filesystem::file_size(path_);
  database_->log().copy_if_long();
  EXPECT_EQ(std::filesystem::file_size(path_), before);
  ASSERT_TRUE(commit(20).ok());
  database_->log().copy_if_long();
  EXPECT_GE(std::filesystem::file_size(path_), before + 20 * kValueBytes);
}

TEST_F(Log, GivesTheSpaceOfARolledBackTransactionBack) {
  open(64u << 20);
  ASSERT_TRUE(commit(1).ok());
  roll_back(100);
  ASSERT_GE(bytes(), 50 * kValueBytes);
  database_->log().prepare();
  EXPECT_EQ(bytes(), 0u);
  EXPECT_EQ(rows(), 1u);
}

// The reader still needs the commits in the log, but not the part behind them.
TEST_F(Log, IsCutBehindTheLastCommitWhileAReaderNeedsIt) {
  open(64u << 20);
  ASSERT_TRUE(commit(1).ok());
  auto reader = Database::open(path_, {.read_only = true});
  ASSERT_TRUE(reader.ok());
  ASSERT_TRUE((*reader)->execute("BEGIN; SELECT count(*) FROM t").ok());
  ASSERT_TRUE(commit(1).ok());
  const std::uint64_t before = bytes();
  roll_back(100);
  ASSERT_GE(bytes(), before + 50 * kValueBytes);
  database_->log().prepare();
  EXPECT_EQ(bytes(), before);
  EXPECT_EQ(rows(), 2u);
}

// The part behind the last commit is not known then: it may be a commit of the other connection.
TEST_F(Log, IsNotCutIfAnotherConnectionHasWritten) {
  open(64u << 20);
  ASSERT_TRUE(commit(1).ok());
  auto reader = Database::open(path_, {.read_only = true});
  ASSERT_TRUE(reader.ok());
  ASSERT_TRUE((*reader)->execute("BEGIN; SELECT count(*) FROM t").ok());
  roll_back(1);
  auto other = Database::open(path_, {.sync = false});
  ASSERT_TRUE(other.ok());
  ASSERT_TRUE((*other)->execute("INSERT INTO t (a) VALUES (1)").ok());
  database_->log().prepare();
  EXPECT_EQ(rows(), 2u);
}

// Stores until the disk is full. The log can still be copied then.
TEST_F(Log, RefusesACommitThatCouldNotBeCopiedLater) {
  const auto on_the_disk = [&]() -> std::string {
    open(64u << 20);
    std::uint64_t stored = 0;
    Status status;
    while ((status = commit(10)).ok() && stored < 1000) stored += 10;
    if (status.code() != StatusCode::resource_exhausted) return status.text();
    if (status.text().find("to copy its log") == std::string::npos) return status.text();
    if (Status copied = database_->log().copy(); !copied.ok()) return copied.text();
    return rows() == stored ? "ok" : "other rows";
  };
  const OnSmallDisk disk = on_small_disk(folder_ / "", 8u << 20, on_the_disk);
  if (!disk.skipped.empty()) GTEST_SKIP() << disk.skipped;
  EXPECT_EQ(disk.outcome, "ok");
}

}  // namespace
}  // namespace tributary::store_testing
