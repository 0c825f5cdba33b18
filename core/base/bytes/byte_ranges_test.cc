// Tests of sets of byte ranges, compared with a bitmap for random ranges.
#include "core/base/bytes/byte_ranges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace tributary {
namespace {

TEST(ByteRanges, CountsNewBytesOnly) {
  ByteRanges seen;
  EXPECT_EQ(seen.add({10, 10}), 10u);
  EXPECT_EQ(seen.add({10, 10}), 0u);
  EXPECT_EQ(seen.add({5, 10}), 5u);
  EXPECT_EQ(seen.add({18, 4}), 2u);
  EXPECT_EQ(seen.bytes(), 17u);
  EXPECT_EQ(seen.ranges(), 1u);
}

TEST(ByteRanges, MergesRangesThatTouch) {
  ByteRanges seen;
  seen.add({0, 4});
  seen.add({8, 4});
  EXPECT_EQ(seen.ranges(), 2u);
  EXPECT_EQ(seen.from_start(), 4u);
  EXPECT_EQ(seen.add({4, 4}), 4u);
  EXPECT_EQ(seen.ranges(), 1u);
  EXPECT_EQ(seen.from_start(), 12u);
}

// The new range overlaps both ranges and joins them.
TEST(ByteRanges, FillsAGapBetweenTwoRanges) {
  ByteRanges seen;
  seen.add({10, 10});
  seen.add({30, 10});
  EXPECT_EQ(seen.add({15, 20}), 10u);
  EXPECT_EQ(seen.add({10, 30}), 0u);
  EXPECT_EQ(seen.from_start(), 0u);
}

TEST(ByteRanges, AnEmptyRangeAddsNothing) {
  ByteRanges seen;
  EXPECT_EQ(seen.add({7, 0}), 0u);
  EXPECT_EQ(seen.ranges(), 0u);
  EXPECT_EQ(seen.from_start(), 0u);
  EXPECT_TRUE(seen.overlap({0, 100}).empty());
}

TEST(ByteRanges, GivesTheOverlap) {
  ByteRanges seen;
  seen.add({0, 4});
  seen.add({8, 4});
  EXPECT_EQ(seen.overlap({2, 8}), (std::vector<ByteRange>{{2, 2}, {8, 2}}));
  EXPECT_TRUE(seen.overlap({4, 4}).empty());
  EXPECT_TRUE(seen.overlap({2, 0}).empty());
}

// Random ranges; a bitmap of 200 bytes is the reference.
TEST(ByteRanges, AgreesWithABitmap) {
  constexpr std::uint64_t kBytes = 200;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    std::mt19937_64 random(seed);
    ByteRanges seen;
    std::vector<bool> bits(kBytes);
    for (int step = 0; step < 40; ++step) {
      const std::uint64_t first = random() % kBytes;
      const std::uint64_t count = random() % (std::min<std::uint64_t>(30, kBytes - first) + 1);
      std::uint64_t overlap = 0;
      for (const ByteRange& part : seen.overlap({first, count})) overlap += part.count;
      const auto begin = bits.begin() + static_cast<std::ptrdiff_t>(first);
      const auto end = begin + static_cast<std::ptrdiff_t>(count);
      const auto known = static_cast<std::uint64_t>(std::count(begin, end, true));
      EXPECT_EQ(overlap, known);
      EXPECT_EQ(seen.add({first, count}), count - known);
      std::fill(begin, end, true);
      EXPECT_EQ(seen.bytes(), static_cast<std::uint64_t>(std::ranges::count(bits, true)));
      const auto gap = std::ranges::find(bits, false);
      EXPECT_EQ(seen.from_start(), static_cast<std::uint64_t>(gap - bits.begin()));
    }
  }
}

}  // namespace
}  // namespace tributary
