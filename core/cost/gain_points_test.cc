// Tests of gain curves from a few points: they pass through the points and never decrease.
#include "core/cost/gain_points.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tributary {
namespace {

const GainPoints kCurve = {.ratios = {0.001, 0.01, 0.1}, .gains = {0.1, 0.3, 0.7}};

// The interpolation passes through the points and never decreases.
TEST(GainPoints, AreMetAndNeverFallInBetween) {
  for (std::size_t i = 0; i < kCurve.ratios.size(); ++i) {
    EXPECT_DOUBLE_EQ(kCurve.at(kCurve.ratios[i]), kCurve.gains[i]);
  }
  double before = 0;
  for (double ratio = 1e-5; ratio < 1; ratio *= 1.1) {
    EXPECT_GE(kCurve.at(ratio), before) << ratio;
    before = kCurve.at(ratio);
  }
  EXPECT_EQ(kCurve.at(0), 0);
  EXPECT_EQ(kCurve.at(1), 1);
  EXPECT_EQ(kCurve.at(7), 1);
}

TEST(GainPoints, WithoutPointsTheGainIsTheShare) { EXPECT_EQ(GainPoints().at(0.25), 0.25); }

TEST(GainPoints, CountByEnergy) {
  const GainPoints poor = {.ratios = kCurve.ratios, .gains = {0.0, 0.1, 0.2}};
  const std::vector<GainPoints> both = {kCurve, poor};
  const GainPoints joint = joint_gain(both, std::vector<double>{3, 1});
  EXPECT_DOUBLE_EQ(joint.gains[1], 0.75 * 0.3 + 0.25 * 0.1);
  const GainPoints alike = joint_gain(both, std::vector<double>{0, 0});
  EXPECT_DOUBLE_EQ(alike.gains[2], 0.45);
  EXPECT_TRUE(check(joint).ok());
}

// An agent without a curve does not affect the joint curve.
TEST(GainPoints, AgentsWithoutPointsDoNotChangeTheJointOnes) {
  const GainPoints joint =
      joint_gain(std::vector<GainPoints>{{}, kCurve}, std::vector<double>{5, 1});
  EXPECT_EQ(joint.ratios, kCurve.ratios);
  EXPECT_FALSE(joint_gain(std::vector<GainPoints>{{}, {}}, std::vector<double>{1, 1}).known());
}

// Smoothing moves a fixed share; other ratios replace the curve.
TEST(GainPoints, MoveTowardsFreshReadings) {
  GainPoints known = kCurve;
  smooth(known, {.ratios = kCurve.ratios, .gains = {0.2, 0.5, 0.7}}, 0.25);
  EXPECT_DOUBLE_EQ(known.gains[0], 0.125);
  EXPECT_DOUBLE_EQ(known.gains[1], 0.35);
  const GainPoints other = {.ratios = {0.5}, .gains = {0.9}};
  smooth(known, other, 0.25);
  EXPECT_EQ(known, other);
}

TEST(GainPoints, ImpossiblePointsAreRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const GainPoints& wrong : std::vector<GainPoints>{{{0.1}, {}},
                                                         {{0.1, 0.1}, {0.1, 0.2}},
                                                         {{0}, {0.1}},
                                                         {{1.5}, {0.1}},
                                                         {{nan}, {0.1}},
                                                         {{0.1}, {nan}},
                                                         {{0.1}, {-0.1}},
                                                         {{0.1, 0.2}, {0.5, 0.4}}}) {
    EXPECT_EQ(check(wrong).code(), StatusCode::invalid_argument);
  }
}

}  // namespace
}  // namespace tributary
