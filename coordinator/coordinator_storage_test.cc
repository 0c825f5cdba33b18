// Tests of the storage thread of the coordinator with a real journal.
#include "coordinator/coordinator_storage.h"

#include <gtest/gtest.h>

#include "core/base/log/log.h"
#include "core/base/log/memory_log_testing.h"
#include "core/service/posted_events_testing.h"
#include "core/store/coordinator/run_file.h"
#include "core/store/testing/folder_testing.h"

namespace tributary {
namespace {

class CoordinatorStorageTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened =
        CoordinatorStorage::open({.journal = {.path = folder_ / "run.db", .sync = false}},
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
