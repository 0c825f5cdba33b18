#include "core/net/arrival_timer.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

using std::chrono::microseconds;

constexpr std::uint64_t kBytes = 1'000'000;

TEST(ArrivalTimer, TimesWhatCameAfterTheReaderHadCaughtUp) {
  ArrivalTimer timer;
  timer.caught_up(microseconds(1000), 300'000);
  timer.caught_up(microseconds(2000), 500'000);  // only the first look counts
  const Arrival arrival = timer.whole(microseconds(8000), 300'000 + kBytes);
  EXPECT_EQ(arrival.bytes, kBytes);
  EXPECT_EQ(arrival.took, microseconds(7000));
}

TEST(ArrivalTimer, WhatLayInTheBufferIsNotTimed) {
  ArrivalTimer timer;
  EXPECT_EQ(timer.whole(microseconds(10), kBytes).bytes, 0u) << "never caught up";
}

TEST(ArrivalTimer, EachPayloadIsTimedForItself) {
  ArrivalTimer timer;
  timer.caught_up(microseconds(1000), 0);
  EXPECT_EQ(timer.whole(microseconds(2000), kBytes).bytes, kBytes);
  EXPECT_EQ(timer.whole(microseconds(3000), 2 * kBytes).bytes, 0u) << "a pause lies between them";
  timer.caught_up(microseconds(9000), 2 * kBytes + 100);
  EXPECT_EQ(timer.whole(microseconds(9500), 3 * kBytes).took, microseconds(500));
}

TEST(ArrivalTimer, ASmallRestSaysNothing) {
  ArrivalTimer timer;
  timer.caught_up(microseconds(1000), 0);
  EXPECT_EQ(timer.whole(microseconds(2000), ArrivalTimer::kBytesMin - 1).bytes, 0u);
  timer.caught_up(microseconds(3000), 0);
  EXPECT_EQ(timer.whole(microseconds(3000), kBytes).bytes, 0u) << "no time";
}

}  // namespace
}  // namespace tributary
