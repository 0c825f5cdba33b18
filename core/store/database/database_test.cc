// Tests of the database layer: transactions, locks, file modes and large values.
#include "core/store/database/database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <limits>

#include "core/store/database/blobs.h"
#include "core/store/database/file_lock.h"
#include "core/store/testing/folder_testing.h"
#include "core/store/testing/life_testing.h"

namespace tributary::store_testing {
namespace {

// Syncing is off: it depends on the disk, and no test here could notice that it is missing.
std::unique_ptr<Database> opened(const std::string& path, DatabaseOptions options = {}) {
  options.sync = false;
  auto database = Database::open(path, options);
  EXPECT_TRUE(database.ok()) << database.status().text();
  return database.ok() ? std::move(*database) : nullptr;
}

// A database with one table, for values of all types.
class OneTable : public testing::Test {
 protected:
  void SetUp() override {
    database_ = opened(folder_ / "test.db");
    ASSERT_TRUE(database_->execute("CREATE TABLE t (a, b REAL, c UNIQUE)").ok());
  }

  template <typename Value>
  Result<Value> back(const Value& value) {
    TRIBUTARY_TRY(database_->run("DELETE FROM t"));
    TRIBUTARY_TRY(database_->run("INSERT INTO t (a) VALUES (?)", value));
    Value read{};
    TRIBUTARY_TRY(database_->first("SELECT a FROM t", std::tie(read)).status());
    return read;
  }

  std::int64_t rows() {
    std::int64_t count = 0;
    EXPECT_TRUE(database_->first("SELECT count(*) FROM t", std::tie(count)).ok());
    return count;
  }

  Folder folder_;
  std::unique_ptr<Database> database_;
};

TEST_F(OneTable, GivesValuesBack) {
  EXPECT_EQ(*back(std::numeric_limits<std::uint64_t>::max()),
            std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(*back(std::numeric_limits<std::int64_t>::min()),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(*back(std::uint32_t{0xffffffff}), 0xffffffff);
  EXPECT_EQ(*back(true), true);
  EXPECT_EQ(*back(-0.1), -0.1);
  EXPECT_EQ(*back(std::numeric_limits<double>::infinity()),
            std::numeric_limits<double>::infinity());
  EXPECT_EQ(*back(std::string("a\0b", 3)), std::string("a\0b", 3));
  EXPECT_EQ(*back(std::string()), "");
  EXPECT_EQ(*back(Bytes{1, 0, 2}), (Bytes{1, 0, 2}));
  EXPECT_EQ(*back(Bytes{}), Bytes{});
  EXPECT_EQ(*back(std::optional<std::uint64_t>()), std::nullopt);
  EXPECT_EQ(*back(std::optional<std::uint64_t>(3)), std::optional<std::uint64_t>(3));
  EXPECT_EQ(*back(std::shared_ptr<const Bytes>()), nullptr);
}

TEST_F(OneTable, TakesNoValueForOneOfAnotherType) {
  ASSERT_TRUE(database_->run("INSERT INTO t (a, b) VALUES ('text', 2)").ok());
  std::uint64_t number = 0;
  const auto read = database_->first("SELECT a FROM t", std::tie(number));
  EXPECT_EQ(read.status().code(), StatusCode::corrupt_data);
  EXPECT_THAT(read.status().text(), testing::HasSubstr("column a"));
  double real = 0;
  EXPECT_TRUE(database_->first("SELECT b FROM t", std::tie(real)).ok());
  EXPECT_EQ(real, 2);
}

TEST_F(OneTable, TakesNoNumberThatIsTooLarge) {
  ASSERT_TRUE(database_->run("INSERT INTO t (a) VALUES (?)", std::int64_t{256}).ok());
  std::uint8_t small = 0;
  EXPECT_EQ(database_->first("SELECT a FROM t", std::tie(small)).status().code(),
            StatusCode::corrupt_data);
}

TEST_F(OneTable, TakesNoValueThatIsTooLong) {
  database_.reset();
  database_ = opened(folder_ / "test.db", {.value_bytes_max = 1000});
  const Status status = database_->run("INSERT INTO t (a) VALUES (?)", Bytes(2000));
  EXPECT_EQ(status.code(), StatusCode::resource_exhausted) << status.text();
}

TEST_F(OneTable, SaysWhichValueOfWhichStatementWasWrong) {
  ASSERT_TRUE(database_->run("INSERT INTO t (c) VALUES (1)").ok());
  const Status status = database_->run("INSERT INTO t (c) VALUES (1)");
  EXPECT_EQ(status.code(), StatusCode::mismatch);
  EXPECT_THAT(status.text(),
              testing::AllOf(testing::HasSubstr("test.db"), testing::HasSubstr("UNIQUE"),
                             testing::HasSubstr("t.c")));
  EXPECT_EQ(database_->run("INSERT INTO nothing VALUES (1)").code(), StatusCode::invalid_argument);
}

TEST_F(OneTable, RollsBackUncommittedRows) {
  {
    auto transaction = Transaction::begin(*database_);
    ASSERT_TRUE(transaction.ok());
    ASSERT_TRUE(database_->run("INSERT INTO t (a) VALUES (1)").ok());
  }
  EXPECT_EQ(rows(), 0);
  auto transaction = Transaction::begin(*database_);
  ASSERT_TRUE(transaction.ok());
  ASSERT_TRUE(database_->run("INSERT INTO t (a) VALUES (1)").ok());
  ASSERT_TRUE(transaction.value().commit().ok());
  EXPECT_EQ(rows(), 1);
}

TEST_F(OneTable, AQueryWithinItselfIsRefused) {
  ASSERT_TRUE(database_->run("INSERT INTO t (a) VALUES (1)").ok());
  Status inner;
  const auto row = [&](Rows&) -> Status {
    inner = database_->each("SELECT a FROM t", [](Rows&) { return Status(); });
    return {};
  };
  ASSERT_TRUE(database_->each("SELECT a FROM t", row).ok());
  EXPECT_EQ(inner.code(), StatusCode::invalid_argument);
}

TEST_F(OneTable, AReaderBeginsNoTransaction) {
  const auto reader = opened(folder_ / "test.db", {.read_only = true});
  const auto refused = Transaction::begin(*reader);
  EXPECT_EQ(refused.status().code(), StatusCode::invalid_argument);
}

// A second writer gets `unavailable` after its busy timeout.
TEST_F(OneTable, AnotherWriterHasToWait) {
  auto transaction = Transaction::begin(*database_);
  ASSERT_TRUE(transaction.ok());
  const auto other = opened(folder_ / "test.db", {.busy_timeout_ms = 1});
  const auto refused = Transaction::begin(*other);
  EXPECT_EQ(refused.status().code(), StatusCode::unavailable);
  EXPECT_TRUE(worth_retrying(refused.status()));
}

std::uint32_t mode_of(const std::string& path) {
  struct stat about = {};
  return ::stat(path.c_str(), &about) == 0 ? about.st_mode & 0777u : 0;
}

// Also for a daemon that was started by hand, whose umask lets others read.
TEST(FileMode, AllowsOnlyTheOwnerForANewFileAndItsLog) {
  const Folder folder;
  const std::string path = folder / "private.db";
  const mode_t before = ::umask(0022);
  const auto database = opened(path);
  ASSERT_TRUE(database->execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)").ok());
  ::umask(before);
  for (const char* end : {"", "-wal", "-shm"}) EXPECT_EQ(mode_of(path + end), 0600u) << end;
}

TEST(FileMode, KeepsThatOfAnExistingFile) {
  const Folder folder;
  const std::string path = folder / "shared.db";
  ASSERT_NE(opened(path), nullptr);
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  const auto database = opened(path);
  ASSERT_TRUE(database->execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)").ok());
  EXPECT_EQ(mode_of(path), 0640u);
}

// Another user who can open the lock's file could hold the lock of a stopped daemon.
TEST(FileMode, AllowsOnlyTheOwnerForALock) {
  const Folder folder;
  const std::string path = folder / "run.db";
  const auto open_and_close = [&] { return FileLock::take(path).status(); };
  ASSERT_TRUE(open_and_close().ok());
  EXPECT_EQ(mode_of(path + ".lock"), 0600u);
  ASSERT_EQ(::chmod((path + ".lock").c_str(), 0644), 0);  // as earlier builds created it
  ASSERT_TRUE(open_and_close().ok());
  EXPECT_EQ(mode_of(path + ".lock"), 0600u);
}

// --- blobs -------------------------------------------------------------------------------------

class BlobTables : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(database_->execute(std::string(kBlobTables)).ok()); }

  Bytes made_up(std::size_t size) {
    Bytes bytes(size);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(draws_.next());
    return bytes;
  }

  // Bytes written to the disk by the exchange.
  std::uint64_t exchange(std::vector<BlobId>& blobs, const std::vector<NewBlob>& values) {
    const std::uint64_t before = database_->bytes_written();
    auto transaction = Transaction::begin(*database_);
    EXPECT_TRUE(transaction.ok());
    auto written = blobs_.exchange(blobs, values);
    EXPECT_TRUE(written.ok()) << written.status().text();
    blobs = *written;
    EXPECT_TRUE(transaction.value().commit().ok());
    return database_->bytes_written() - before;
  }

  std::int64_t count(const std::string& table) {
    std::int64_t rows = 0;
    EXPECT_TRUE(database_->first("SELECT count(*) FROM " + table, std::tie(rows)).ok());
    return rows;
  }

  Folder folder_;
  std::unique_ptr<Database> database_ = opened(folder_ / "blobs.db");
  Blobs blobs_{*database_};
  Draws draws_{1};
};

constexpr std::uint64_t kSmall = 200'000;  // pages of rows and indexes, and lists of free pages

TEST_F(BlobTables, GiveValuesOfAllSizesBack) {
  std::vector<BlobId> blobs;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, kChunkBytes - 1, kChunkBytes,
                                 kChunkBytes + 1, 3 * kChunkBytes + 77}) {
    for (const std::uint64_t begins_at : {0u, 1000u}) {
      const Bytes value = made_up(size);
      exchange(blobs, {{.bytes = value, .begins_at = begins_at}});
      const auto read = blobs_.read_bytes(blobs[0]);
      ASSERT_TRUE(read.ok()) << read.status().text();
      EXPECT_EQ(**read, value) << size;
    }
  }
  exchange(blobs, {});
  EXPECT_EQ(count("blobs") + count("blob_chunks") + count("chunks"), 0);
}

// Storing an equal value again writes only rows; a changed one also writes the pages that differ.
TEST_F(BlobTables, WriteNothingTwice) {
  const Bytes value = made_up(3 * kChunkBytes + 77);
  std::vector<BlobId> blobs;
  EXPECT_GE(exchange(blobs, {{.bytes = value}}), value.size());
  EXPECT_LE(exchange(blobs, {{.bytes = value}}), kSmall) << "it is there already";
  Bytes changed = value;
  changed[kChunkBytes + 5] ^= 1;
  EXPECT_LE(exchange(blobs, {{.bytes = changed}}), kSmall) << "one page has changed";
  EXPECT_EQ(**blobs_.read_bytes(blobs[0]), changed);
}

// The part of a bucket becomes a part of the residual, which takes over its chunks.
TEST_F(BlobTables, PassChunksOn) {
  Bytes whole = made_up(4 * kChunkBytes);
  Bytes part = made_up(2 * kChunkBytes);
  const std::uint64_t place = kChunkBytes + kChunkBytes / 2;
  std::vector<BlobId> blobs;
  exchange(blobs, {{.bytes = whole}, {.bytes = part, .begins_at = place}});
  std::ranges::copy(part, whole.begin() + static_cast<std::ptrdiff_t>(place));
  // The middle one of the part's three pieces is a whole chunk; the two beside it have changed.
  EXPECT_LE(exchange(blobs, {{.bytes = whole}}), 2 * kChunkBytes + kSmall);
  EXPECT_EQ(**blobs_.read_bytes(blobs[0]), whole);
  EXPECT_EQ(count("chunks"), 4);
}

// Replaced values reuse the space of the old ones.
TEST_F(BlobTables, KeepTheFileAsLargeAsItsContent) {
  std::vector<BlobId> blobs;
  for (int i = 0; i < 5; ++i) exchange(blobs, {{.bytes = made_up(2 * kChunkBytes)}});
  const std::uint64_t size = database_->file_bytes();
  for (int i = 0; i < 20; ++i) {
    exchange(blobs, {{.bytes = made_up(2 * kChunkBytes - draws_.below(1000))}});
  }
  EXPECT_LE(database_->file_bytes(), size + kSmall);
}

TEST_F(BlobTables, NameMissingBlobs) {
  std::vector<BlobId> blobs;
  exchange(blobs, {{.bytes = made_up(3 * kChunkBytes)}});
  EXPECT_EQ(blobs_.read_bytes(blobs[0] + 1).status().code(), StatusCode::corrupt_data);
  EXPECT_TRUE(blobs_.read_floats(blobs[0]).ok());
  ASSERT_TRUE(database_->run("DELETE FROM blob_chunks WHERE place = 1").ok());
  EXPECT_EQ(blobs_.read_bytes(blobs[0]).status().code(), StatusCode::corrupt_data);
}

TEST_F(BlobTables, TakeNoBytesForFloats) {
  std::vector<BlobId> blobs;
  exchange(blobs, {{.bytes = made_up(7)}});
  EXPECT_EQ(blobs_.read_floats(blobs[0]).status().code(), StatusCode::corrupt_data);
}

}  // namespace
}  // namespace tributary::store_testing
