// Full disks, damaged files, and files of another kind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "core/store/agent/agent_journal.h"
#include "core/store/coordinator/coordinator_journal.h"
#include "core/store/coordinator/run_file.h"
#include "core/store/testing/describe_testing.h"
#include "core/store/testing/folder_testing.h"
#include "core/store/testing/life_testing.h"
#include "core/store/testing/mirror_testing.h"

namespace tributary::store_testing {
namespace {

// Prevents every file of this process from growing, like a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

// An agent's journal that runs out of space.
class FullDisk : public testing::Test {
 protected:
  void SetUp() override {
    auto journal = AgentJournal::open(
        {.path = folder_ / "agent.db", .durability = Durability::stop, .log_bytes = 64u << 10});
    ASSERT_TRUE(journal.ok()) << journal.status().text();
    journal_ = std::move(*journal);
    for (int i = 0; i < 30; ++i) ASSERT_EQ(store().text(), "ok");
  }

  Status store() {
    const AgentRecordToStore record = life_.next();
    Status status = journal_->store(record);
    if (status.ok()) {
      mirror_.store(record);
    } else {
      refused_ = record;
    }
    return status;
  }
  Status store_until_refused() {
    for (int i = 0; i < 300; ++i) TRIBUTARY_TRY(store());
    return {};
  }

  std::string restored() {
    const auto state = journal_->restore();
    return state.ok() ? described(*state) : state.status().text();
  }

  Folder folder_;
  AgentLife life_{5, 20'000};
  AgentMirror mirror_;
  std::unique_ptr<AgentJournal> journal_;
  std::optional<AgentRecordToStore> refused_;
};

// A full disk is reported as resource_exhausted, and the stored state does not change.
TEST_F(FullDisk, HasAnErrorOfItsOwnAndChangesNothing) {
  Status full;
  {
    const FileSizeLimit limit(50'000);
    full = store_until_refused();
  }
  EXPECT_EQ(full.code(), StatusCode::resource_exhausted) << full.text();
  EXPECT_TRUE(worth_retrying(full));
  EXPECT_THAT(full.text(), testing::HasSubstr("agent.db"));
  EXPECT_EQ(restored(), described(mirror_.state()));

  ASSERT_TRUE(refused_);
  EXPECT_EQ(journal_->store(*refused_).text(), "ok") << "once there is room again";
  mirror_.store(*refused_);
  for (int i = 0; i < 30; ++i) ASSERT_EQ(store().text(), "ok");
  EXPECT_EQ(restored(), described(mirror_.state()));
}

TEST_F(FullDisk, SurvivesARestartThen) {
  {
    const FileSizeLimit limit(50'000);
    EXPECT_FALSE(store_until_refused().ok());
    journal_.reset();  // cannot copy its log either
  }
  auto journal = AgentJournal::open({.path = folder_ / "agent.db", .durability = Durability::stop});
  ASSERT_TRUE(journal.ok()) << journal.status().text();
  journal_ = std::move(*journal);
  EXPECT_EQ(restored(), described(mirror_.state()));
}

TEST_F(FullDisk, SqlitesOwnLimitIsReported) {
  ASSERT_TRUE(journal_->database().limit_pages(1).ok());  // never less than the current number
  constexpr std::size_t kRunBytes = 1u << 20;
  const DownloadRecord large{.job = 1,
                             .hash = 2,
                             .bytes = 2 * kRunBytes,
                             .offset = 0,
                             .data = std::make_shared<const Bytes>(kRunBytes)};
  const Status full = journal_->store(large);
  EXPECT_EQ(full.code(), StatusCode::resource_exhausted) << full.text();
  EXPECT_EQ(restored(), described(mirror_.state()));
}

// The log itself fills the disk; the next transaction copies it and gives its space back.
TEST(DiskFullOfLog, IsFreedByTheNextTry) {
  const Folder folder;
  auto journal = AgentJournal::open(
      {.path = folder / "agent.db", .durability = Durability::stop, .log_bytes = 64u << 20});
  ASSERT_TRUE(journal.ok()) << journal.status().text();
  AgentLife life(2, 20'000);
  const FileSizeLimit limit(4u << 20);
  int refused = 0;
  for (int i = 0; i < 300; ++i) {
    const AgentRecordToStore record = life.next();
    if (const Status status = (*journal)->store(record); !status.ok()) {
      ++refused;
      ASSERT_EQ(status.code(), StatusCode::resource_exhausted) << status.text();
      ASSERT_EQ((*journal)->store(record).text(), "ok");
    }
  }
  EXPECT_GT(refused, 0) << "the log has never come near the limit";
}

TEST(FullDiskOfACoordinator, LeavesEverythingAsItWas) {
  const Folder folder;
  auto journal = CoordinatorJournal::open(
      {.journal = {.path = folder / "run.db", .durability = Durability::stop}});
  ASSERT_TRUE(journal.ok()) << journal.status().text();
  CoordinatorLife life(6, 20'000);
  CoordinatorMirror mirror;
  Status full;
  {
    const FileSizeLimit limit(3u << 20);
    for (int i = 0; i < 300 && full.ok(); ++i) {
      const CoordinatorRecord record = life.next();
      full = (*journal)->store(record);
      if (full.ok()) mirror.store(record);
    }
  }
  EXPECT_EQ(full.code(), StatusCode::resource_exhausted) << full.text();
  const auto state = (*journal)->restore();
  ASSERT_TRUE(state.ok()) << state.status().text();
  EXPECT_EQ(described(*state), described(mirror.state()));
}

// --- damage ------------------------------------------------------------------------------------

class Damage : public testing::Test {
 protected:
  void SetUp() override {
    auto journal = AgentJournal::open({.path = path_, .durability = Durability::stop});
    ASSERT_TRUE(journal.ok()) << journal.status().text();
    Draws draws(1);
    ReplicaRecord replica;
    replica.job = 1;
    auto model = std::make_shared<FloatVector>(50'000);
    std::ranges::fill(*model, 1.5f);
    replica.model = std::move(model);
    ASSERT_EQ((*journal)->store(replica).text(), "ok");
  }

  // Overwrites bytes at this fraction of the file's length.
  void write_at(double share, const std::string& bytes) {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    const auto size = static_cast<double>(std::filesystem::file_size(path_));
    file.seekp(static_cast<std::streamoff>(share * size));
    file << bytes;
  }

  Status opened_and_restored() {
    TRIBUTARY_ASSIGN(const auto journal,
                     AgentJournal::open({.path = path_, .durability = Durability::stop}));
    return journal->restore().status();
  }

  Folder folder_;
  const std::string path_ = folder_ / "agent.db";
};

// In a value that is a row of the database.
TEST_F(Damage, InOneByteOfAModelIsFound) {
  {
    auto journal = AgentJournal::open(
        {.path = path_, .durability = Durability::stop, .large_chunk_bytes = UINT64_MAX});
    ASSERT_TRUE(journal.ok()) << journal.status().text();
    Draws draws(2);
    ReplicaRecord replica;
    replica.job = 1;
    replica.model = draws.floats(50'000);
    ASSERT_EQ((*journal)->store(replica).text(), "ok");
  }
  ASSERT_TRUE(opened_and_restored().ok());
  write_at(0.8, "!");
  const Status status = opened_and_restored();
  EXPECT_EQ(status.code(), StatusCode::corrupt_data) << status.text();
  EXPECT_FALSE(worth_retrying(status));
  EXPECT_THAT(status.text(), testing::HasSubstr("agent.db"));
}

TEST_F(Damage, InTheHeaderIsFound) {
  write_at(0, "something else altogether");
  EXPECT_EQ(opened_and_restored().code(), StatusCode::corrupt_data);
}

TEST_F(Damage, InTheSchemaIsFound) {
  write_at(0, std::string(200, '\0'));
  EXPECT_FALSE(opened_and_restored().ok());
}

// Not an error of the query that misses the column.
TEST_F(Damage, InATableIsFound) {
  {
    auto database = Database::open(path_, {.sync = false});
    ASSERT_TRUE(database.ok());
    ASSERT_TRUE((*database)->execute("ALTER TABLE replica RENAME COLUMN epoch TO epoxx").ok());
  }
  const Status status = opened_and_restored();
  EXPECT_EQ(status.code(), StatusCode::corrupt_data) << status.text();
  EXPECT_THAT(status.text(),
              testing::AllOf(testing::HasSubstr("table replica"), testing::HasSubstr("epoch")));
}

// Readers of a coordinator's journal see the same error.
TEST(DamageOfARun, InATableIsFound) {
  const Folder folder;
  const std::string path = folder / "run.db";
  ASSERT_TRUE(
      CoordinatorJournal::open({.journal = {.path = path, .durability = Durability::stop}}).ok());
  {
    auto database = Database::open(path, {.sync = false});
    ASSERT_TRUE(database.ok());
    ASSERT_TRUE((*database)->execute("DROP TABLE metrics").ok());
  }
  EXPECT_EQ(RunFile::open(path).status().code(), StatusCode::corrupt_data);
  const auto journal =
      CoordinatorJournal::open({.journal = {.path = path, .durability = Durability::stop}});
  EXPECT_EQ(journal.status().code(), StatusCode::corrupt_data) << journal.status().text();
}

TEST_F(Damage, ByCuttingTheFileIsFound) {
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) / 2);
  const Status status = opened_and_restored();
  EXPECT_EQ(status.code(), StatusCode::corrupt_data) << status.text();
}

// A blob that claims a huge size must not cause an allocation.
TEST_F(Damage, AClaimedSizeAllocatesNothing) {
  {
    auto database = Database::open(path_, {.sync = false});
    ASSERT_TRUE(database.ok());
    ASSERT_TRUE((*database)->run("UPDATE blobs SET bytes = ?", std::uint64_t{1} << 46).ok());
  }
  const Status status = opened_and_restored();
  EXPECT_EQ(status.code(), StatusCode::corrupt_data) << status.text();
}

TEST_F(Damage, InATypeIsFound) {
  {
    auto database = Database::open(path_, {.sync = false});
    ASSERT_TRUE(database.ok());
    ASSERT_TRUE((*database)->run("UPDATE replica SET epoch = 'three'").ok());
  }
  EXPECT_EQ(opened_and_restored().code(), StatusCode::corrupt_data);
}

TEST_F(Damage, InARangeIsFound) {
  {
    auto database = Database::open(path_, {.sync = false});
    ASSERT_TRUE(database.ok());
    ASSERT_TRUE((*database)->run("UPDATE replica SET epoch = ?", std::int64_t{1} << 40).ok());
  }
  EXPECT_EQ(opened_and_restored().code(), StatusCode::corrupt_data);
}

TEST(WrongFile, IsNotTakenForAJournal) {
  const Folder folder;
  ASSERT_TRUE(AgentJournal::open({.path = folder / "agent.db"}).ok());
  const auto journal = CoordinatorJournal::open({.journal = {.path = folder / "agent.db"}});
  ASSERT_FALSE(journal.ok());
  EXPECT_EQ(journal.status().code(), StatusCode::mismatch) << journal.status().text();
}

TEST(WrongFile, AFolderThatIsNotThereIsNamed) {
  const Folder folder;
  const auto journal = AgentJournal::open({.path = folder / "no/agent.db"});
  ASSERT_FALSE(journal.ok());
  EXPECT_EQ(journal.status().code(), StatusCode::io_error);
  EXPECT_THAT(journal.status().text(), testing::HasSubstr("no/agent.db"));
}

}  // namespace
}  // namespace tributary::store_testing
