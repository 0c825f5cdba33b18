// Tests of the gain curve, which must bound the gain that sorting gives exactly.
#include "core/codec/sparse/gain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "core/codec/codec_testing.h"

namespace tributary::sparse {
namespace {

using codec_testing::kPatterns;
using codec_testing::Pattern;
using codec_testing::update;

// Returns gains[k] by sorting.
std::vector<double> sorted_gains(std::span<const float> values) {
  std::vector<double> squares;
  for (const float v : values) squares.push_back(static_cast<double>(v) * static_cast<double>(v));
  std::ranges::sort(squares, std::greater());
  std::vector<double> gains = {0};
  for (const double square : squares) gains.push_back(gains.back() + square);
  const double energy = gains.back();
  for (double& gain : gains) gain = energy > 0 ? gain / energy : 1;
  return gains;
}

constexpr double kRounding = 1e-12;  // tolerance for sums in another order

TEST(GainCurve, BoundsTheGainOfEveryRatio) {
  for (const Pattern pattern : kPatterns) {
    for (const std::size_t size : {1u, 2u, 17u, 1000u, 70'000u}) {
      const FloatVector x = update(pattern, size, 0);
      const std::vector<double> gains = sorted_gains(x);
      const GainCurve curve({}, x);
      for (std::size_t k = 0; k <= size; k += 1 + size / 500) {
        const GainCurve::Bounds bounds = curve.at(k);
        ASSERT_LE(bounds.low, gains[k] + kRounding) << k << " of " << size;
        ASSERT_GE(bounds.high, gains[k] - kRounding) << k << " of " << size;
      }
    }
  }
}

TEST(GainCurve, IsExactAtTheEdgesOfBins) {
  for (const Pattern pattern : kPatterns) {
    const FloatVector x = update(pattern, 5000, 0);
    const std::vector<double> gains = sorted_gains(x);
    const GainCurve curve({}, x);
    const std::vector<std::uint64_t> exact = curve.exact_at();
    EXPECT_GE(exact.size(), 2u);
    EXPECT_EQ(exact.back(), x.size());
    for (const std::uint64_t k : exact) {
      const GainCurve::Bounds bounds = curve.at(k);
      EXPECT_EQ(bounds.low, bounds.high);
      EXPECT_NEAR(bounds.low, gains[k], kRounding);
    }
  }
}

// A bin spans one sixteenth of an octave, so squares within it differ by at most one eighth.
TEST(GainCurve, IsTightInBetween) {
  const FloatVector x = update(Pattern::lognormal, 200'000, 0);
  const GainCurve curve({}, x);
  for (const double ratio : {0.001, 0.004, 0.011, 0.033, 0.1}) {
    const GainCurve::Bounds bounds = curve.at_ratio(ratio);
    EXPECT_LE(bounds.low, bounds.high);
    EXPECT_LT(bounds.high - bounds.low, 0.003) << ratio;
  }
}

TEST(GainCurve, EveryThreadCountGivesTheSame) {
  const FloatVector x = update(Pattern::normal, 300'000, 0);
  const GainCurve alone({}, x);
  ThreadPool pool(3);
  const GainCurve shared({.pool = &pool}, x);
  EXPECT_EQ(alone.energy(), shared.energy());
  for (std::uint64_t k = 0; k < x.size(); k += 997) {
    EXPECT_EQ(alone.at(k).low, shared.at(k).low);
    EXPECT_EQ(alone.at(k).high, shared.at(k).high);
  }
}

// A bucket of zeros must not divide by its energy.
TEST(GainCurve, WithoutEnergyNothingIsLost) {
  for (const std::size_t size : {0u, 10u}) {
    const GainCurve curve({}, FloatVector(size, 0.0f));
    EXPECT_EQ(curve.at_ratio(0.1).low, 1);
    EXPECT_EQ(curve.at(5).high, 1);
  }
}

}  // namespace
}  // namespace tributary::sparse
