#include "coordinator/coordinator_storage.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <vector>

#include "core/base/log/log.h"
#include "core/store/coordinator/run_file.h"
#include "core/store/testing/folder_testing.h"

namespace tributary {
namespace {

class CoordinatorStorageTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = CoordinatorStorage::open({.journal = {.path = folder_ / "run.db", .sync = false}},
                                           {.post =
                                                [this](Event event) {
                                                  const std::lock_guard lock(mutex_);
                                                  events_.push_back(std::move(event));
                                                  changed_.notify_all();
                                                },
                                            .clock = clock_,
                                            .log = log_});
    ASSERT_TRUE(opened.ok()) << opened.status().text();
    storage_ = std::move(*opened);
  }
  Event next_event() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(
        changed_.wait_for(lock, std::chrono::seconds(60), [this] { return !events_.empty(); }));
    Event event = std::move(events_.front());
    events_.erase(events_.begin());
    return event;
  }

  store_testing::Folder folder_;
  SystemClock clock_;
  MemoryLog log_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Event> events_;
  std::unique_ptr<CoordinatorStorage> storage_;  // ends before what it posts to
};

TEST_F(CoordinatorStorageTest, ARoundThatIsNotThereIsAnsweredAllTheSame) {
  ASSERT_TRUE(storage_->restore().ok());
  storage_->load({.token = 7, .job = 1, .round = 5});
  const Event event = next_event();
  const auto* loaded = std::get_if<RoundLoaded>(&event);
  ASSERT_NE(loaded, nullptr);
  EXPECT_EQ(loaded->token, 7u);
}

TEST_F(CoordinatorStorageTest, WhatTheChronicleHasIsKeptWhenTheStorageEnds) {
  ASSERT_TRUE(storage_->restore().ok());
  storage_->chronicle().metric({.name = "first", .value = 1});
  storage_->keep_chronicle();
  storage_->chronicle().metric({.name = "second", .value = 2});
  storage_->keep_chronicle();
  storage_->end();
  storage_->keep_rest();
  EXPECT_EQ(storage_->chronicle().take().size(), 0u);
  EXPECT_EQ(storage_->chronicle().dropped(), 0u);
  storage_.reset();
  const auto run = RunFile::open(folder_ / "run.db");
  ASSERT_TRUE(run.ok()) << run.status().text();
}

}  // namespace
}  // namespace tributary
