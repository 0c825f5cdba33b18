// Tests of the clocks. The manual clock separates monotonic time from the date.
#include "core/base/clock.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

using namespace std::chrono_literals;
using std::chrono::sys_days;

constexpr std::chrono::system_clock::time_point kStart = sys_days(std::chrono::year(2000) / 1 / 1);

TEST(ManualClock, StandsStillUntilMoved) {
  ManualClock clock;
  EXPECT_EQ(clock.now(), 0ns);
  EXPECT_EQ(clock.wall_time(), kStart);
  clock.advance(1500ms);
  EXPECT_EQ(clock.now(), 1500ms);
  EXPECT_EQ(clock.wall_time(), kStart + 1500ms);
}

TEST(ManualClock, DateJumpsWithoutMovingTime) {
  ManualClock clock;
  clock.advance(10s);
  // The date jumps back by more than the elapsed time.
  clock.set_wall_time(kStart - 24h);
  EXPECT_EQ(clock.now(), 10s);
  EXPECT_EQ(clock.wall_time(), kStart - 24h);
  clock.advance(1s);
  EXPECT_EQ(clock.wall_time(), kStart - 24h + 1s);
}

TEST(SystemClock, NeverGoesBackwards) {
  const SystemClock clock;
  auto before = clock.now();
  for (int i = 0; i < 10'000; ++i) {
    const auto now = clock.now();
    ASSERT_GE(now, before);
    before = now;
  }
}

TEST(SystemClock, ReturnsTheSystemsDate) {
  const SystemClock clock;
  const auto before = std::chrono::system_clock::now();
  const auto date = clock.wall_time();
  EXPECT_GE(date, before);
  EXPECT_LE(date, std::chrono::system_clock::now());
}

}  // namespace
}  // namespace tributary
