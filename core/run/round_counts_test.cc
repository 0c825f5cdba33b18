// Tests of counting contributors and dense bytes of a round, also for damaged records.
#include "core/run/round_counts.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

TEST(RoundCounts, AMemberWithOneOfTheBucketsIsAContributor) {
  const RoundCounts counts =
      count_round(3, 2, {{.bucket = 0, .contributor_set = 0}, {.bucket = 1, .contributor_set = 1}},
                  {{.bits = {0b011}, .contributors = 2}, {.bits = {0b100}, .contributors = 1}});
  EXPECT_EQ(counts.contributors.count(), 3U);
  EXPECT_EQ(counts.dense_updates_up, 1.5) << "two halves by two members, one half by one";
  EXPECT_EQ(counts.dense_updates_down, 3);
}

TEST(RoundCounts, ASetWithoutABucketCountsNowhere) {
  const RoundCounts counts = count_round(3, 2, {{.bucket = 0, .contributor_set = 0}},
                                         {{.bits = {0b001}}, {.bits = {0b111}}});
  EXPECT_EQ(counts.contributors.count(), 1U);
  EXPECT_EQ(counts.dense_updates_up, 0.5);
  EXPECT_EQ(counts.dense_updates_down, 1.5);
}

TEST(RoundCounts, SeveralExchangesCountEach) {
  const RoundCounts counts =
      count_round(2, 1, {{.bucket = 0}, {.bucket = 1}, {.bucket = 2}}, {{.bits = {0b11}}});
  EXPECT_EQ(counts.dense_updates_up, 6);
  EXPECT_EQ(counts.dense_updates_down, 6);
}

TEST(RoundCounts, ImpossibleValuesAreIgnored) {
  const RoundCounts counts = count_round(2, 0, {{.contributor_set = 9}, {.contributor_set = 0}},
                                         {{.bits = {0xff, 0xff}, .contributors = 1'000'000}});
  EXPECT_EQ(counts.contributors.count(), 2U);
  EXPECT_EQ(counts.dense_updates_up, 2);
}

}  // namespace
}  // namespace tributary
