// Tests of the timer for repeated requests. Pauses double from the least to the most; times are
// plain numbers.
#include "core/round/agent/context/repeat_timer.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

constexpr TimeNs kLeast = 10;
constexpr TimeNs kMost = 70;

TEST(RepeatTimer, IsNeverDueUntilItIsStarted) {
  RepeatTimer timer;
  EXPECT_FALSE(timer.running());
  EXPECT_FALSE(timer.due(kNever - 1));
  timer.start(100, 5, 10);
  EXPECT_FALSE(timer.due(104));
  EXPECT_TRUE(timer.due(105));
  timer.stop();
  EXPECT_EQ(timer.due_at_ns(), kNever);
}

TEST(RepeatTimer, DoublesThePauseUpToTheMost) {
  RepeatTimer timer;
  timer.start(0, 20, 20);
  TimeNs now = timer.due_at_ns();
  for (const TimeNs pause : {20, 40, 70, 70}) {
    timer.repeat(now, kLeast, kMost);
    EXPECT_EQ(timer.due_at_ns() - now, pause);
    now = timer.due_at_ns();
  }
}

TEST(RepeatTimer, PausesForAtLeastTheLeast) {
  RepeatTimer timer;
  timer.start(0, 0, 0);
  EXPECT_TRUE(timer.due(0));
  timer.repeat(0, kLeast, kMost);
  EXPECT_EQ(timer.due_at_ns(), kLeast);
  timer.repeat(0, kLeast, kMost);
  EXPECT_EQ(timer.due_at_ns(), 2 * kLeast);
}

TEST(RepeatTimer, PostponesByOnePauseAndKeepsIt) {
  RepeatTimer timer;
  timer.start(0, 20, 30);
  timer.postpone(5, kLeast);
  EXPECT_EQ(timer.due_at_ns(), 35);
  timer.set_due(6);
  timer.repeat(6, kLeast, kMost);
  EXPECT_EQ(timer.due_at_ns(), 36);
}

}  // namespace
}  // namespace tributary
