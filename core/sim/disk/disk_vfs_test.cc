// Tests of SQLite on a virtual disk: power cuts at every operation, failing writes and syncs, a
// full disk, and several connections and simulations.
#include "core/sim/disk/disk_vfs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <memory>
#include <string>

namespace tributary {
namespace {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
using SqliteHandle = std::unique_ptr<sqlite3, CloseDatabase>;

class DiskVfsTest : public testing::Test {
 protected:
  void SetUp() override { vfs_.mount("machine", disk_); }

  SqliteHandle open() {
    sqlite3* raw = nullptr;
    const int code =
        sqlite3_open_v2("/machine/journal.db", &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                        vfs_.name().c_str());
    EXPECT_EQ(code, SQLITE_OK);
    return SqliteHandle(raw);
  }
  static int run(const SqliteHandle& database, const std::string& sql) {
    return sqlite3_exec(database.get(), sql.c_str(), nullptr, nullptr, nullptr);
  }
  static std::string ask(const SqliteHandle& database, const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(database.get(), sql.c_str(), -1, &statement, nullptr), SQLITE_OK);
    EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW);
    const unsigned char* const text = sqlite3_column_text(statement, 0);
    std::string answer = text == nullptr ? "" : reinterpret_cast<const char*>(text);
    sqlite3_finalize(statement);
    return answer;
  }
  // Opens the database with the settings of the journals.
  SqliteHandle open_journal() {
    SqliteHandle database = open();
    EXPECT_EQ(ask(database, "PRAGMA journal_mode=WAL"), "wal");
    EXPECT_EQ(run(database, "PRAGMA synchronous=FULL"), SQLITE_OK);
    return database;
  }
  void crash(SqliteHandle& database) {
    disk_.power_off();
    database.reset();
    disk_.lose_unsynced();
    disk_.power_on();
  }

  VirtualDisk disk_{SeededDraws(7, DrawUse::disk, 0)};
  DiskVfs vfs_;
};

TEST_F(DiskVfsTest, KeepsCommittedDataOverAReopening) {
  SqliteHandle database = open_journal();
  ASSERT_EQ(run(database, "CREATE TABLE t(x); INSERT INTO t VALUES(41),(1)"), SQLITE_OK);
  database.reset();
  EXPECT_EQ(ask(open(), "SELECT sum(x) FROM t"), "42");
}

TEST_F(DiskVfsTest, RollbackJournalsWorkToo) {
  SqliteHandle database = open();
  ASSERT_EQ(ask(database, "PRAGMA journal_mode=DELETE"), "delete");
  ASSERT_EQ(run(database, "CREATE TABLE t(x); INSERT INTO t VALUES(1)"), SQLITE_OK);
  ASSERT_EQ(run(database, "BEGIN; UPDATE t SET x=2"), SQLITE_OK);
  crash(database);
  EXPECT_EQ(ask(open(), "SELECT x FROM t"), "1");
}

TEST_F(DiskVfsTest, TwoConnectionsSeeOneAnother) {
  const SqliteHandle writer = open_journal();
  const SqliteHandle reader = open();
  ASSERT_EQ(run(writer, "CREATE TABLE t(x); INSERT INTO t VALUES(5)"), SQLITE_OK);
  EXPECT_EQ(ask(reader, "SELECT x FROM t"), "5");
  ASSERT_EQ(run(writer, "BEGIN IMMEDIATE; UPDATE t SET x=6"), SQLITE_OK);
  EXPECT_EQ(run(reader, "BEGIN IMMEDIATE"), SQLITE_BUSY);
  EXPECT_EQ(ask(reader, "SELECT x FROM t"), "5");
  ASSERT_EQ(run(writer, "COMMIT"), SQLITE_OK);
  EXPECT_EQ(ask(reader, "SELECT x FROM t"), "6");
}

TEST_F(DiskVfsTest, TwoSimulationsHaveTwoDisks) {
  const SqliteHandle database = open_journal();
  ASSERT_EQ(run(database, "CREATE TABLE t(x)"), SQLITE_OK);
  DiskVfs other;
  VirtualDisk disk(SeededDraws(7, DrawUse::disk, 1));
  other.mount("machine", disk);
  EXPECT_NE(other.name(), vfs_.name());
  EXPECT_FALSE(disk.exists("journal.db"));
}

TEST_F(DiskVfsTest, AFullDiskIsAnErrorAndNothingIsLost) {
  const SqliteHandle database = open_journal();
  ASSERT_EQ(run(database, "CREATE TABLE t(x); INSERT INTO t VALUES(1)"), SQLITE_OK);
  disk_.set_faults({.capacity_bytes = disk_.used_bytes() + 8192});
  EXPECT_EQ(run(database, "INSERT INTO t VALUES(zeroblob(100000))"), SQLITE_FULL);
  EXPECT_GT(disk_.tally().full, 0u);
  disk_.set_faults({});
  EXPECT_EQ(run(database, "INSERT INTO t VALUES(2)"), SQLITE_OK);
  EXPECT_EQ(ask(database, "SELECT count(*) FROM t"), "2");
}

// After a power cut during any write or sync, every transaction that was reported as done must be
// complete, and the interrupted one must be complete or absent.
TEST_F(DiskVfsTest, PowerCutsAtEveryOperationLeaveWholeTransactions) {
  SqliteHandle database = open_journal();
  ASSERT_EQ(run(database,
                "CREATE TABLE t(i INTEGER PRIMARY KEY, x); "
                "INSERT INTO t VALUES(0, 0)"),
            SQLITE_OK);
  int done = 0;
  for (std::uint64_t cut = 0; cut < 400; ++cut) {
    disk_.power_off_after(cut % 40);
    int tried = done;
    while (true) {
      const int next = tried + 1;
      const std::string sql = fmt::format(
          "BEGIN; INSERT INTO t VALUES({}, randomblob(3000)); UPDATE t SET x={} WHERE i=0; COMMIT",
          next, next);
      if (run(database, sql) != SQLITE_OK) break;
      tried = next;
    }
    crash(database);
    database = open_journal();
    ASSERT_EQ(ask(database, "PRAGMA integrity_check"), "ok");
    const int found = std::stoi(ask(database, "SELECT x FROM t WHERE i=0"));
    ASSERT_GE(found, tried) << "lost a commit at cut " << cut;
    ASSERT_LE(found, tried + 1);
    ASSERT_EQ(ask(database, "SELECT max(i) FROM t"), std::to_string(found));
    done = found;
  }
  EXPECT_GT(done, 100);
  EXPECT_GT(disk_.tally().lost_writes, 0u);
  EXPECT_GT(disk_.tally().torn_writes, 0u);
}

// Shows that the virtual disk depends on syncs: without them, commits are lost.
TEST_F(DiskVfsTest, WithoutSyncsCommitsAreLost) {
  int lost = 0;
  for (int i = 0; i < 20; ++i) {
    SqliteHandle database = open_journal();
    ASSERT_EQ(run(database, "CREATE TABLE IF NOT EXISTS t(x); PRAGMA synchronous=OFF"), SQLITE_OK);
    const int before = std::stoi(ask(database, "SELECT count(*) FROM t"));
    run(database, "INSERT INTO t VALUES(1)");
    crash(database);
    database = open();
    if (std::stoi(ask(database, "SELECT count(*) FROM t")) == before) ++lost;
  }
  EXPECT_GT(lost, 0);
}

TEST_F(DiskVfsTest, FailingWritesAndSyncsAreErrorsAndNothingIsLost) {
  SqliteHandle database = open_journal();
  ASSERT_EQ(run(database, "CREATE TABLE t(x)"), SQLITE_OK);
  int done = 0;
  for (int i = 0; i < 200; ++i) {
    disk_.set_faults({.write_failure = 0.05, .sync_failure = 0.05});
    if (run(database, "INSERT INTO t VALUES(1)") == SQLITE_OK) ++done;
    disk_.set_faults({});
    ASSERT_EQ(ask(database, "SELECT count(*) FROM t"), std::to_string(done));
  }
  EXPECT_GT(disk_.tally().failed_writes, 0u);
  EXPECT_GT(disk_.tally().failed_syncs, 0u);
  EXPECT_LT(done, 200);
}

}  // namespace
}  // namespace tributary
