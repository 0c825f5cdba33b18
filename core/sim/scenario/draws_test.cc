#include "core/sim/scenario/draws.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace tributary {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// A recorded seed must reproduce its run, so the numbers of a sequence never change.
TEST(SeededDraws, ASequenceIsTheSameOnEveryMachine) {
  SeededDraws draws(7, DrawUse::node, 3);
  SeededDraws again(7, DrawUse::node, 3);
  SeededDraws other(7, DrawUse::disk, 3);
  const std::uint64_t first = draws.bits();
  EXPECT_EQ(first, 0x69ced6649c8178dbu);
  EXPECT_EQ(again.bits(), first);
  EXPECT_NE(other.bits(), first);
}

// 1,000 draws of 5 numbers: the probability that one is missing is below 10^-90.
TEST(SeededDraws, BetweenReachesBothEndsAndNothingElse) {
  SeededDraws draws(1, DrawUse::schedule, 0);
  bool low = false;
  bool high = false;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t drawn = draws.between(-2, 2);
    EXPECT_GE(drawn, -2);
    EXPECT_LE(drawn, 2);
    low |= drawn == -2;
    high |= drawn == 2;
  }
  EXPECT_TRUE(low && high);
}

// Nothing is drawn, so a scenario without a delay has the same draws afterwards.
TEST(SeededDraws, AnEmptySpanDrawsNothing) {
  SeededDraws draws(1, DrawUse::schedule, 0);
  SeededDraws untouched(1, DrawUse::schedule, 0);
  EXPECT_EQ(draws.between(4, 4), 4);
  EXPECT_EQ(draws.between(4, 3), 4);
  EXPECT_EQ(draws.below(0), 0u);
  EXPECT_FALSE(draws.chance(0));
  EXPECT_EQ(draws.bits(), untouched.bits());
}

// A difference of 2^63 or more does not fit a signed number.
TEST(SeededDraws, ASpanMayBeWiderThanASignedNumber) {
  SeededDraws draws(1, DrawUse::schedule, 0);
  bool negative = false;
  bool positive = false;
  for (int i = 0; i < 100; ++i) {
    const std::int64_t drawn = draws.between(kLeast, kMost);
    negative |= drawn < 0;
    positive |= drawn > 0;
    EXPECT_GE(draws.between(-1, kMost), -1);
    EXPECT_LE(draws.between(kLeast, 0), 0);
  }
  EXPECT_TRUE(negative && positive);
}

}  // namespace
}  // namespace tributary
