#include "coordinator/journal/round_pause.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

using std::chrono::milliseconds;

// 10 kB at 1 MB/s are 10 ms, in half of the time between two rounds.
TEST(RoundPause, LeavesTheDiskTwiceTheTimeThatARoundNeeds) {
  RoundPause pause{.bytes = 10'000, .bytes_per_s = 1e6, .pressure = 1, .since_last = {}};
  EXPECT_EQ(pause.time(), milliseconds(20));
  pause.since_last = milliseconds(15);
  EXPECT_EQ(pause.time(), milliseconds(5));
  pause.since_last = milliseconds(140);
  EXPECT_EQ(pause.time(), milliseconds(0)) << "such rounds need not wait";
}

TEST(RoundPause, GrowsEvenlyAndHasABound) {
  RoundPause pause{.bytes = 1e6, .bytes_per_s = 1e6, .pressure = -0.5, .since_last = {}};
  EXPECT_EQ(pause.time(), milliseconds(0));
  pause.pressure = 0.25;
  EXPECT_EQ(pause.time(), milliseconds(500));
  pause.pressure = 3;
  EXPECT_EQ(pause.time(), milliseconds(2000));
  pause.bytes_per_s = 1;
  EXPECT_EQ(pause.time(), RoundPause::kMax);
  pause.bytes_per_s = 0;
  EXPECT_EQ(pause.time(), milliseconds(0)) << "nothing was measured";
}

}  // namespace
}  // namespace tributary
