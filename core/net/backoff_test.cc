#include "core/net/backoff.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

TEST(Backoff, GrowsToItsBound) {
  Backoff backoff(milliseconds(100), milliseconds(1000), 1);
  nanoseconds whole = milliseconds(100);
  for (int i = 0; i < 20; ++i) {
    const nanoseconds pause = backoff.next();
    EXPECT_GE(pause, whole / 2);
    EXPECT_LE(pause, whole);
    whole = std::min<nanoseconds>(whole * 2, milliseconds(1000));
  }
  backoff.reset();
  EXPECT_LE(backoff.next(), milliseconds(100));
}

TEST(Backoff, DependsOnItsSeed) {
  Backoff one(milliseconds(100), milliseconds(1000), 1);
  Backoff same(milliseconds(100), milliseconds(1000), 1);
  Backoff other(milliseconds(100), milliseconds(1000), 2);
  const nanoseconds pause = one.next();
  EXPECT_EQ(same.next(), pause);
  EXPECT_NE(other.next(), pause);
}

TEST(Backoff, MakesDoWithOddBounds) {
  Backoff backoff(nanoseconds(0), nanoseconds::max(), 1);
  for (int i = 0; i < 200; ++i) EXPECT_GE(backoff.next(), nanoseconds(0));
  Backoff reversed(milliseconds(10), milliseconds(1), 1);
  EXPECT_LE(reversed.next(), milliseconds(10));
}

}  // namespace
}  // namespace tributary
