// Tests of fitting latency and rate to readings that lie on a known line, with queued transfers and
// outliers.
#include "core/link_quality/link_fit.h"

#include <gtest/gtest.h>

#include <vector>

namespace tributary {
namespace {

constexpr double kAlpha_s = 0.01;
constexpr double kFittedBeta = 1e-7;

// A reading that lies exactly on the line.
LinkReading exact(double latencies, double bytes) {
  return {.latencies = latencies,
          .bytes = bytes,
          .seconds = latencies * kAlpha_s + bytes * kFittedBeta};
}

// Sizes from 1 kB to 2.2 MB, each 1.5 times the previous one.
std::vector<LinkReading> twenty_sizes() {
  std::vector<LinkReading> readings;
  double bytes = 1e3;
  for (int i = 0; i < 20; ++i, bytes *= 1.5) readings.push_back(exact(1, bytes));
  return readings;
}

// The confidence stays below 1: twenty readings never prove a line.
TEST(LinkFit, FindsTheLineThatAllReadingsLieOn) {
  const LinkFit fit = fit_link(twenty_sizes());
  EXPECT_NEAR(fit.alpha_s, kAlpha_s, 1e-6 * kAlpha_s);
  EXPECT_NEAR(fit.beta_s_per_byte, kFittedBeta, 1e-6 * kFittedBeta);
  EXPECT_GT(fit.alpha_confidence, 0.7);
  EXPECT_GT(fit.beta_confidence, 0.7);
}

// Two points always lie on a line, so the fit is exact and says little.
TEST(LinkFit, TwoReadingsAreAnUnreliableFit) {
  const LinkFit fit = fit_link(std::vector{exact(2, 100), exact(0, 1e6)});
  EXPECT_NEAR(fit.alpha_s, kAlpha_s, 1e-6 * kAlpha_s);
  EXPECT_NEAR(fit.beta_s_per_byte, kFittedBeta, 1e-6 * kFittedBeta);
  EXPECT_LT(fit.alpha_confidence, 0.2);
  EXPECT_LT(fit.beta_confidence, 0.2);
}

// Half of the readings are fifty times too slow; the fit ignores them.
TEST(LinkFit, QueuedTransfersDoNotCount) {
  std::vector<LinkReading> readings = twenty_sizes();
  for (std::size_t i = 0; i < readings.size(); i += 2) readings[i].seconds *= 50;
  const LinkFit fit = fit_link(readings);
  EXPECT_NEAR(fit.alpha_s, kAlpha_s, 0.02 * kAlpha_s);
  EXPECT_NEAR(fit.beta_s_per_byte, kFittedBeta, 0.02 * kFittedBeta);
  EXPECT_LT(fit.beta_confidence, fit_link(twenty_sizes()).beta_confidence);
}

// A train whose beginning was missed looks ten times as fast.
TEST(LinkFit, OneReadingThatIsTooShortDoesNotCount) {
  std::vector<LinkReading> readings;
  for (int i = 0; i < 20; ++i) readings.push_back(exact(0, 1e5));
  readings[7].seconds /= 10;
  EXPECT_NEAR(fit_link(readings).beta_s_per_byte, kFittedBeta, 0.02 * kFittedBeta);
}

// One equation for two unknowns. Sizes that differ by rounding are no second equation.
TEST(LinkFit, EqualSizesSeparateNothing) {
  const std::vector<LinkReading> readings(20, exact(1, 1e5));
  const LinkFit fit = fit_link(readings);
  EXPECT_EQ(fit.alpha_confidence, 0);
  EXPECT_EQ(fit.beta_confidence, 0);
  EXPECT_NEAR(fit.seconds(1, 1e5), readings[0].seconds, 1e-6) << "their sum is known";
  std::vector<LinkReading> rounded = readings;
  for (std::size_t i = 0; i < rounded.size(); i += 2)
    rounded[i].bytes *= 1 + 1e-15 * static_cast<double>(i);
  EXPECT_LT(fit_link(rounded).alpha_confidence, 1e-6) << "nor do sizes that are nearly equal";
}

// Trains have no latency in them, and round trips of no bytes have no rate.
TEST(LinkFit, UnmeasuredQuantitiesAreUnknown) {
  EXPECT_FALSE(fit_link({}).alpha_known);
  EXPECT_FALSE(fit_link({}).beta_known);
  const LinkFit trains = fit_link(std::vector(20, exact(0, 1e5)));
  EXPECT_FALSE(trains.alpha_known);
  EXPECT_EQ(trains.alpha_confidence, 0);
  EXPECT_NEAR(trains.beta_s_per_byte, kFittedBeta, 1e-6 * kFittedBeta);
  EXPECT_GT(trains.beta_confidence, 0.8);
  const LinkFit trips = fit_link(std::vector(20, exact(2, 0)));
  EXPECT_FALSE(trips.beta_known);
  EXPECT_NEAR(trips.alpha_s, kAlpha_s, 1e-6 * kAlpha_s);
  EXPECT_GT(trips.alpha_confidence, 0.8);
}

// Old readings have small weights and must lower the confidence.
TEST(LinkFit, AWeightIsAsManyReadings) {
  std::vector<LinkReading> readings = twenty_sizes();
  const double confidence = fit_link(readings).alpha_confidence;
  for (LinkReading& reading : readings) reading.weight = 0.01;
  const LinkFit fit = fit_link(readings);
  EXPECT_LT(fit.alpha_confidence, confidence / 2);
  EXPECT_NEAR(fit.alpha_s, kAlpha_s, 1e-6 * kAlpha_s);
}

}  // namespace
}  // namespace tributary
