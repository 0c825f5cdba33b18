// Tests of the storage thread of an agent with a real journal.
#include "edge_agent/agent_storage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/base/log/memory_log_testing.h"
#include "core/round/common/plan/small_job_testing.h"
#include "core/service/loop/posted_events_testing.h"
#include "core/store/testing/folder_testing.h"

namespace tributary {
namespace {

class AgentStorageTest : public testing::Test {
 protected:
  void open(const std::string& boot_id = "first") {
    auto opened = AgentStorage::open(
        {.path = folder_ / "agent.db", .durability = Durability::stop, .boot_id = boot_id},
        {.post = events_.poster(),
         .definition_stored =
             [this](SharedBytes definition) { definition_ = std::move(definition); },
         .log = log_});
    ASSERT_TRUE(opened.ok()) << opened.status().text();
    storage_ = std::move(*opened);
  }
  // Stores the record and returns the outcome.
  Status store(AgentRecordToStore record) {
    StoreAgent request{.token = ++last_token_, .record = std::move(record)};
    storage_->store(request);
    const Stored stored = events_.next<Stored>();
    EXPECT_EQ(stored.token, last_token_);
    return stored.status;
  }
  static AgentJobRecord job_in(wire::JobState state) {
    AgentJobRecord record{
        .job = 1, .revision = 1, .change = 1, .state = state, .definition = nullptr};
    auto definition = keep_message(round_testing::small_job());
    EXPECT_TRUE(definition.ok()) << definition.status().text();
    record.definition = *std::move(definition);
    return record;
  }

  store_testing::Folder folder_;
  MemoryLog log_;
  service_testing::PostedEvents events_;
  SharedBytes definition_;
  Token last_token_ = 0;
  std::unique_ptr<AgentStorage> storage_;  // destroyed before the queue that it posts to
};

TEST_F(AgentStorageTest, AJobEndsWithItsRecord) {
  open();
  storage_->restore();
  EXPECT_FALSE(storage_->job_over());
  ASSERT_TRUE(store(job_in(wire::JobState::running)).ok());
  EXPECT_FALSE(storage_->job_over());
  EXPECT_NE(definition_, nullptr);
  ASSERT_TRUE(store(job_in(wire::JobState::finished)).ok());
  EXPECT_TRUE(storage_->job_over());
  EXPECT_EQ(storage_->last_version(), round_testing::small_job().rounds);
}

// A stopped job has no fixed last version.
TEST_F(AgentStorageTest, AJobThatWasStoppedEndsAtAnyVersion) {
  open();
  storage_->restore();
  ASSERT_TRUE(store(job_in(wire::JobState::stopped)).ok());
  EXPECT_TRUE(storage_->job_over());
  EXPECT_EQ(storage_->last_version(), 0u);
}

// The end of a job and its definition survive a restart.
TEST_F(AgentStorageTest, StoredStateIsKnownAfterARestart) {
  open();
  storage_->restore();
  ASSERT_TRUE(store(job_in(wire::JobState::finished)).ok());
  storage_.reset();
  definition_.reset();
  open();
  storage_->restore();
  EXPECT_TRUE(storage_->job_over());
  EXPECT_NE(definition_, nullptr);
}

// A power failure after the end of the process undoes nothing, whatever the durability.
TEST_F(AgentStorageTest, TheJournalIsClosedAtTheEnd) {
  open("first");
  storage_->restore();
  ASSERT_TRUE(store(job_in(wire::JobState::running)).ok());
  storage_.reset();
  EXPECT_FALSE(std::filesystem::exists(folder_ / "agent.db-wal"));
  open("second");
  EXPECT_TRUE(storage_->restore().job);
  EXPECT_FALSE(std::ranges::any_of(log_.entries(), [](const MemoryLog::Entry& entry) {
    return entry.message.find("the residual is dropped") != std::string::npos;
  }));
}

// An agent can always begin anew, because the coordinator has the model.
TEST_F(AgentStorageTest, ADamagedJournalIsSetAsideAndANewOneBegins) {
  open();
  storage_->restore();
  ASSERT_TRUE(store(job_in(wire::JobState::finished)).ok());
  storage_.reset();
  const std::string path = folder_ / "agent.db";
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary)
      << "something else altogether";
  open();
  EXPECT_FALSE(storage_->restore().job);
  EXPECT_TRUE(std::ranges::any_of(log_.entries(), [](const MemoryLog::Entry& entry) {
    return entry.level == LogLevel::error && entry.message.find("was damaged") != std::string::npos;
  }));
  EXPECT_TRUE(std::filesystem::exists(path + ".damaged"));
  ASSERT_TRUE(store(job_in(wire::JobState::running)).ok());
  storage_.reset();
  open();
  EXPECT_TRUE(storage_->restore().job);
}

}  // namespace
}  // namespace tributary
