// Tests of the progress bar, on a pseudo terminal and without one.
#include "cli/progress.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>

namespace tributary {
namespace {

using testing::HasSubstr;

TEST(ProgressLine, ShowsThePart) {
  EXPECT_EQ(progress_line("at it", 0, 4), "at it [------------------------------]   0 %");
  EXPECT_EQ(progress_line("at it", 1, 4), "at it [#######-----------------------]  25 %");
  EXPECT_EQ(progress_line("at it", 4, 4), "at it [##############################] 100 %");
  EXPECT_EQ(progress_line("at it", 0, 0), "at it [##############################] 100 %");
}

TEST(Progress, IsSilentWithoutATerminal) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_NONBLOCK), 0);
  {
    const ManualClock clock;
    Progress progress(pipe[1], clock);
    EXPECT_TRUE(progress.report("at it", 1, 2));
  }
  char byte = 0;
  EXPECT_EQ(::read(pipe[0], &byte, 1), -1);
  ::close(pipe[0]);
  ::close(pipe[1]);
}

class OnATerminal : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(master_ >= 0 && ::grantpt(master_) == 0 && ::unlockpt(master_) == 0);
    terminal_ = ::open(::ptsname(master_), O_RDWR | O_NOCTTY);
    ASSERT_GE(terminal_, 0);
  }
  void TearDown() override {
    ::close(terminal_);
    ::close(master_);
  }
  std::string shown() const {
    std::array<char, 4096> text{};
    const ssize_t size = ::read(master_, text.data(), text.size());
    return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
  }

  int master_ = ::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
  int terminal_ = -1;
};

TEST_F(OnATerminal, DrawsAtOnceAndThenAtMostTenTimesASecond) {
  ManualClock clock;
  Progress progress(terminal_, clock);
  EXPECT_TRUE(progress.report("at it", 1, 4));
  EXPECT_THAT(shown(), HasSubstr(" 25 %"));
  clock.advance(std::chrono::milliseconds(99));
  progress.report("at it", 2, 4);
  EXPECT_EQ(shown(), "");
  clock.advance(std::chrono::milliseconds(1));
  progress.report("at it", 3, 4);
  EXPECT_THAT(shown(), HasSubstr(" 75 %"));
}

TEST_F(OnATerminal, TakesTheLineAway) {
  const ManualClock clock;
  Progress progress(terminal_, clock);
  progress.clear();
  EXPECT_EQ(shown(), "") << "nothing was drawn";
  progress.report("at it", 1, 4);
  shown();
  progress.clear();
  EXPECT_EQ(shown(), "\r\x1b[K");
}

}  // namespace
}  // namespace tributary
