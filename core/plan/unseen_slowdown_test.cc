// Tests of recognizing that links have become slower although no reading shows it.
#include "core/plan/unseen_slowdown.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

// A fixed 0.1 s that no link affects, plus 1 s of link time that scales with the factor.
double exchange_s(double factor) { return 0.1 + factor; }

UnseenSlowdown settled() {
  UnseenSlowdown slowdown;
  for (int i = 0; i < UnseenSlowdown::kKept; ++i) {
    EXPECT_FALSE(slowdown.explains(1.1, exchange_s));
  }
  return slowdown;
}

// A single surprise may have any cause; two in a row change the factor.
TEST(UnseenSlowdown, TwoSurprisesInARowAreTheLines) {
  UnseenSlowdown slowdown = settled();
  EXPECT_FALSE(slowdown.explains(2, exchange_s)) << "that may be chance";
  EXPECT_TRUE(slowdown.explains(10.1, exchange_s));
  EXPECT_EQ(slowdown.factor(), 1) << "one may have met with anything";
  EXPECT_FALSE(slowdown.explains(1.1, exchange_s));
  EXPECT_TRUE(slowdown.explains(30, exchange_s));
  EXPECT_TRUE(slowdown.explains(10.1, exchange_s));
  EXPECT_NEAR(slowdown.factor(), 10, 0.01) << "the milder one";
  EXPECT_FALSE(slowdown.explains(10.1, exchange_s)) << "as predicted now";
}

// The factor also decreases when the link recovers.
TEST(UnseenSlowdown, FollowsTheWayBack) {
  UnseenSlowdown slowdown = settled();
  for (int i = 0; i < 2; ++i) slowdown.explains(20.1, exchange_s);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(slowdown.explains(4.1, exchange_s));
  EXPECT_NEAR(slowdown.factor(), 4, 0.01);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(slowdown.explains(0.2, exchange_s));
  EXPECT_EQ(slowdown.factor(), 1) << "never quicker than it is known to be";
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(slowdown.explains(0.2, exchange_s));
  EXPECT_EQ(slowdown.factor(), 1);
}

// A duration that no link rate explains counts against the choice.
TEST(UnseenSlowdown, TimeThatNoLinkExplainsRemainsToBeLearnt) {
  UnseenSlowdown slowdown = settled();
  EXPECT_TRUE(slowdown.explains(100, exchange_s));
  EXPECT_FALSE(slowdown.explains(100, exchange_s));
  EXPECT_EQ(slowdown.factor(), 1);
  const auto without_a_line = [](double) { return 0.1; };
  EXPECT_TRUE(slowdown.explains(1, without_a_line));
  EXPECT_FALSE(slowdown.explains(1, without_a_line));
  EXPECT_EQ(slowdown.factor(), 1);
}

// Surprises count only for a choice that has matched its prediction before.
TEST(UnseenSlowdown, AChoiceThatNeverKeptToItsPredictionIsToBlame) {
  UnseenSlowdown slowdown;
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(slowdown.explains(10, exchange_s));
  slowdown = settled();
  slowdown.choice_changes();
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(slowdown.explains(10, exchange_s));
}

// New measurements of the link replace the factor.
TEST(UnseenSlowdown, IsForgottenWhenLinesAreMeasured) {
  UnseenSlowdown slowdown = settled();
  for (int i = 0; i < 2; ++i) slowdown.explains(20.1, exchange_s);
  slowdown.forget();
  EXPECT_EQ(slowdown.factor(), 1);
  EXPECT_FALSE(slowdown.explains(1.1, exchange_s));
}

}  // namespace
}  // namespace tributary
