// The end of a coordinator is reported and bounded.
#include "coordinator/journal/stop_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "core/base/exit_codes.h"
#include "core/base/log/memory_log_testing.h"
#include "core/store/testing/folder_testing.h"

namespace tributary {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::Contains;
using testing::Each;
using testing::Field;
using testing::HasSubstr;
using testing::Pair;

class Stopping : public testing::Test {
 protected:
  Stopping() { std::ofstream(folder_ / "run.db-wal") << std::string(700, 'x'); }

  void start(StopProgress::Times times) {
    progress_.emplace(StopProgress::Parts{
                          .journal = folder_ / "run.db",
                          .log = log_,
                          .notify = [this](const std::string& state) { states_.push_back(state); },
                          .end = [this](int signal) { end_.set_value(signal); }},
                      times);
  }
  std::vector<std::string> messages() const {
    std::vector<std::string> all;
    for (const MemoryLog::Entry& entry : log_.entries()) all.push_back(entry.message);
    return all;
  }

  const store_testing::Folder folder_;
  MemoryLog log_;
  std::vector<std::string> states_;  // read when the object has ended
  std::promise<int> end_;
  std::optional<StopProgress> progress_;
};

TEST_F(Stopping, SaysNothingOnAQuickDisk) {
  start({.every = hours(1), .most = hours(2)});
  progress_.reset();
  EXPECT_TRUE(log_.entries().empty());
  EXPECT_TRUE(states_.empty());
}

TEST_F(Stopping, AsksTheServiceManagerForTimeAndEndsAtTheBound) {
  start({.every = milliseconds(2), .most = milliseconds(7)});
  EXPECT_EQ(end_.get_future().get(), 0);
  progress_.reset();
  EXPECT_THAT(states_, testing::SizeIs(3));
  EXPECT_THAT(states_, Each(HasSubstr("EXTEND_TIMEOUT_USEC=8000\nSTATUS=waiting for the disk")));
  EXPECT_THAT(messages(), Contains("stopping: waiting for the disk").Times(3));
  const MemoryLog::Entry last = log_.entries().back();
  EXPECT_THAT(last.message, HasSubstr("stopped before the disk had everything"));
  EXPECT_THAT(last.fields, Contains(Pair("log_bytes", "700")));
  EXPECT_THAT(last.fields, Contains(Pair("rounds_beside", "0")));
}

// Signals belong to the process, so this is one of its own.
TEST_F(Stopping, EndsWithASignal) {
  ::testing::FLAGS_gtest_death_test_style = "fast";
  EXPECT_EXIT(
      {
        StopSignals::block();
        const auto progress = StopProgress::of_process(folder_ / "run.db", log_, StatusCode::ok);
        ::kill(::getpid(), SIGTERM);
        for (;;) ::pause();
      },
      testing::ExitedWithCode(kExitSignal + SIGTERM), "");
}

}  // namespace
}  // namespace tributary
