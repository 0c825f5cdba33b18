// Tests of the division of results, and that the cost model counts the same segments.
#include "core/collective/result_segments.h"

#include <gtest/gtest.h>

#include "core/cost/exchange_cost.h"

namespace tributary {
namespace {

TEST(ResultSegments, TheCostModelCountsTheSame) {
  for (const std::uint32_t agents : {1u, 2u, 3u, 7u, 64u}) {
    for (std::uint64_t bytes = 0; bytes <= 80 * kSegmentBytesMin; bytes += kSegmentBytesMin / 4) {
      for (const std::uint64_t each : {bytes, bytes + 1, bytes + kSegmentBytesMin / 4 - 1}) {
        EXPECT_EQ(segments_of(each, agents), upload_segments(static_cast<double>(each), agents))
            << each << " bytes, " << agents << " agents";
      }
    }
  }
}

TEST(ResultSegments, TheyAreNearlyEqualAndCoverTheResult) {
  for (const std::uint64_t bytes : {0ull, 1ull, 8'191ull, 8'192ull, 100'003ull}) {
    const std::uint32_t segments = segments_of(bytes, 5);
    std::uint64_t at = 0;
    for (std::uint32_t i = 0; i < segments; ++i) {
      const ByteRange range = segment_range(bytes, segments, i);
      EXPECT_EQ(range.first, at);
      EXPECT_LE(range.count, bytes / segments + 1);
      EXPECT_GE(range.count, bytes / segments);
      at += range.count;
    }
    EXPECT_EQ(at, bytes);
  }
}

}  // namespace
}  // namespace tributary
