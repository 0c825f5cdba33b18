#include "core/net/shaped/shaper.h"

#include <gmock/gmock.h>

#include <vector>

namespace tributary {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

Shaper shaper(const ShapeOptions& options) { return *Shaper::make(options); }

TEST(Shaper, WithoutAShapeEverythingArrivesAtOnce) {
  Shaper link = shaper({});
  EXPECT_EQ(link.arrival(seconds(5), 1u << 30), seconds(5));
  EXPECT_EQ(link.arrival(seconds(5), 1), seconds(5));
}

// A delay alone does not slow the second message.
TEST(Shaper, Delays) {
  Shaper link = shaper({.delay = milliseconds(40)});
  EXPECT_EQ(link.arrival(seconds(1), 1000), seconds(1) + milliseconds(40));
  EXPECT_EQ(link.arrival(seconds(1), 1000), seconds(1) + milliseconds(40));
}

// 500 bytes at 1,000 B/s take 0.5 s, and the next message waits for them.
TEST(Shaper, AMessageTakesItsTimeOnTheLine) {
  Shaper link = shaper({.delay = milliseconds(10), .bytes_per_s = 1000, .burst_bytes = 0});
  EXPECT_EQ(link.arrival(seconds(1), 500), seconds(1) + milliseconds(510));
  EXPECT_EQ(link.arrival(seconds(1), 500), seconds(2) + milliseconds(10));
  EXPECT_EQ(link.arrival(seconds(10), 500), seconds(10) + milliseconds(510)) << "idle again";
}

// A token bucket of 1,000 bytes, which 1,000 B/s refill in a second and no further.
TEST(Shaper, AnIdleLineLetsABurstThrough) {
  Shaper link = shaper({.bytes_per_s = 1000, .burst_bytes = 1000});
  EXPECT_EQ(link.arrival(seconds(1), 600), seconds(1));
  EXPECT_EQ(link.arrival(seconds(1), 400), seconds(1));
  EXPECT_EQ(link.arrival(seconds(1), 100), seconds(1) + milliseconds(100));
  EXPECT_EQ(link.arrival(seconds(2), 900), seconds(2)) << "refilled as time went by";
  EXPECT_EQ(link.arrival(seconds(2), 100), seconds(2) + milliseconds(100));
  EXPECT_EQ(link.arrival(seconds(100), 1000), seconds(100)) << "and no further than full";
  EXPECT_EQ(link.arrival(seconds(100), 1000), seconds(101));
}

// Up to 20 ms of jitter at a message each 0.1 ms: without the rule most messages would overtake.
TEST(Shaper, JitterKeepsTheOrder) {
  Shaper link = shaper({.delay = milliseconds(5), .jitter = milliseconds(20), .seed = 3});
  nanoseconds last{0};
  bool differed = false;
  for (int i = 0; i < 1000; ++i) {
    const nanoseconds now = microseconds(100) * i;
    const nanoseconds arrival = *link.arrival(now, 10);
    EXPECT_GE(arrival, last);
    EXPECT_GE(arrival, now + milliseconds(5));
    EXPECT_LE(arrival, std::max(last, now + milliseconds(25)));
    differed = differed || arrival > now + milliseconds(6);
    last = arrival;
  }
  EXPECT_TRUE(differed);
  EXPECT_EQ(link.arrival_of_news(nanoseconds(0)), last);
  EXPECT_EQ(link.arrival_of_news(last + seconds(1)), last + seconds(1));
}

// Whether each of these messages is lost.
std::vector<bool> fates(const ShapeOptions& options, int messages) {
  Shaper link = shaper(options);
  std::vector<bool> lost;
  for (int i = 0; i < messages; ++i) lost.push_back(!link.arrival(milliseconds(i), 10));
  return lost;
}

// 20,000 messages: the tolerance of 200 is nearly five standard deviations. The losses depend on
// seed and stream alone.
TEST(Shaper, LosesAShareAndTheSameOnesAgain) {
  const std::vector<bool> lost = fates({.loss = 0.1, .seed = 7}, 20'000);
  EXPECT_NEAR(static_cast<double>(std::count(lost.begin(), lost.end(), true)), 2000, 200);
  EXPECT_EQ(fates({.loss = 0.1, .seed = 7}, 20'000), lost);
  EXPECT_NE(fates({.loss = 0.1, .seed = 8}, 20'000), lost);
  EXPECT_NE(fates({.loss = 0.1, .seed = 7, .stream = 1}, 20'000), lost);
  EXPECT_THAT(fates({.loss = 1}, 100), testing::Each(true));
  EXPECT_THAT(fates({.loss = 0}, 100), testing::Each(false));
}

TEST(Shaper, WhatIsLostTookItsTime) {
  Shaper link = shaper({.bytes_per_s = 1000, .burst_bytes = 0, .loss = 0.5, .seed = 1});
  for (int i = 1; i <= 100; ++i) {
    if (const auto arrival = link.arrival(seconds(0), 1000)) {
      EXPECT_EQ(*arrival, seconds(i));
    }
  }
}

// Rates and bursts that would overflow the arithmetic of times are refused too.
TEST(Shaper, RefusesShapesThatMakeNoSense) {
  for (const ShapeOptions& bad :
       {ShapeOptions{.delay = seconds(-1)}, ShapeOptions{.jitter = std::chrono::hours(2)},
        ShapeOptions{.bytes_per_s = ~0ull}, ShapeOptions{.burst_bytes = ~0ull},
        ShapeOptions{.loss = -0.1}, ShapeOptions{.loss = 1.5},
        ShapeOptions{.loss = std::numeric_limits<double>::quiet_NaN()}}) {
    EXPECT_EQ(Shaper::make(bad).status().code(), StatusCode::invalid_argument);
  }
}

}  // namespace
}  // namespace tributary
