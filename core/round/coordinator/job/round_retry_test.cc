// Tests of the repetition of a failed round: pauses, numbers and counts.
#include "core/round/coordinator/job/round_retry.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

constexpr TimeNs kRetryNow = 1'000;

TEST(RoundRetry, ThePauseDoublesUpTo32Times) {
  RoundRetry retry;
  for (const TimeNs times : {1, 2, 4, 8, 16, 32, 32, 32}) {
    retry.failed(kRetryNow, 20);
    EXPECT_EQ(retry.resume_at_ns(), kRetryNow + times * 20 * kNsPerMs);
  }
  EXPECT_EQ(retry.attempt(), 8u);
  retry.resume_at(kRetryNow);
  EXPECT_EQ(retry.resume_at_ns(), kRetryNow);
}

TEST(RoundRetry, ACommitEndsAllCounts) {
  RoundRetry retry;
  retry.failed(kRetryNow, 20);
  retry.fell_back();
  retry.refused_sums();
  EXPECT_FALSE(retry.count_too_short(true));
  EXPECT_EQ(retry.attempt() + retry.fallbacks() + retry.sums_refused(), 3u);
  retry.committed();
  EXPECT_EQ(retry.attempt() + retry.fallbacks() + retry.sums_refused(), 0u);
  EXPECT_FALSE(retry.count_too_short(true)) << "counted from the beginning";
  retry.failed(kRetryNow, 20);
  EXPECT_EQ(retry.resume_at_ns(), kRetryNow + 20 * kNsPerMs);
}

// The members of a new epoch have seen no attempt; what has failed in the round still counts.
TEST(RoundRetry, AnEpochCountsItsAttemptsFromZero) {
  RoundRetry retry;
  retry.failed(kRetryNow, 20);
  retry.fell_back();
  retry.epoch_opened();
  EXPECT_EQ(retry.attempt(), 0u);
  EXPECT_EQ(retry.fallbacks(), 1u);
}

TEST(RoundRetry, TwoAttemptsInARowAreTooShort) {
  RoundRetry retry;
  EXPECT_FALSE(retry.count_too_short(true));
  EXPECT_FALSE(retry.count_too_short(false)) << "failed for another reason";
  EXPECT_FALSE(retry.count_too_short(true));
  EXPECT_TRUE(retry.count_too_short(true));
  retry.forget_too_short();
  EXPECT_FALSE(retry.count_too_short(true));
}

}  // namespace
}  // namespace tributary
