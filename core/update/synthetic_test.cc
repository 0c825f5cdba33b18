// Tests of synthetic gradients by the statistics of many draws.
#include "core/update/synthetic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tributary {
namespace {

constexpr std::size_t kCount = 1 << 17;
constexpr DrawAddress kAddress{.job_seed = 1, .purpose = DrawPurpose::synthetic_data};

std::vector<float> lognormal(const DrawAddress& address, float sigma, std::size_t count = kCount) {
  std::vector<float> values(count);
  fill_lognormal_gradient(address, sigma, values);
  return values;
}

std::vector<float> of_agent(const AgentGradient& gradient, std::uint32_t agent) {
  std::vector<float> values(kCount);
  fill_agent_gradient(gradient, agent, values);
  return values;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (double x : values) sum += x;
  return sum / static_cast<double>(values.size());
}

double covariance(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> products(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) products[i] = a[i] * b[i];
  return mean(products) - mean(a) * mean(b);
}

// Within 5 standard errors; the signs must not depend on the magnitudes.
TEST(LognormalGradient, HasNormalLogarithmsAndFairSigns) {
  for (float sigma : {0.5f, 2.0f}) {
    std::vector<double> logs, signs;
    for (float x : lognormal(kAddress, sigma)) {
      logs.push_back(std::log(std::abs(x)));
      signs.push_back(x < 0 ? -1 : 1);
    }
    const double unit = 5 / std::sqrt(double{kCount});
    EXPECT_NEAR(mean(logs), 0, unit * sigma);
    EXPECT_NEAR(std::sqrt(covariance(logs, logs)), sigma, unit * sigma);
    EXPECT_NEAR(mean(signs), 0, unit);
    EXPECT_NEAR(covariance(logs, signs), 0, unit * sigma);
  }
}

TEST(LognormalGradient, RepeatsFromItsAddress) {
  EXPECT_EQ(lognormal(kAddress, 1), lognormal(kAddress, 1));
  DrawAddress other = kAddress;
  other.round = 1;
  EXPECT_NE(lognormal(kAddress, 1), lognormal(other, 1));
  // A shorter gradient is the start of a longer one, also with odd lengths.
  const auto full = lognormal(kAddress, 1);
  for (std::size_t count : {0u, 1u, 2u, 101u}) {
    const auto part = lognormal(kAddress, 1, count);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), full.begin()));
  }
}

// Without noise, all agents have the common part. The noise of two agents must be independent.
TEST(AgentGradient, IsTheCommonPartPlusNoiseOfItsOwn) {
  const AgentGradient quiet{.seed = 3, .sigma = 0.5f, .noise = 0};
  const AgentGradient noisy{.seed = 3, .sigma = 0.5f, .noise = 0.25f};
  const std::vector<float> common = of_agent(quiet, 0);
  EXPECT_EQ(of_agent(quiet, 1), common);

  std::vector<double> base(common.begin(), common.end());
  std::vector<std::vector<double>> noise;
  for (std::uint32_t agent : {0u, 1u}) {
    noise.push_back(base);
    const auto values = of_agent(noisy, agent);
    for (std::size_t i = 0; i < kCount; ++i) noise.back()[i] = values[i] - base[i];
  }
  const double expected = 0.25 * 0.25 * covariance(base, base);
  const double tolerance = 5 * std::sqrt(2.0 / kCount) * expected;
  EXPECT_NEAR(covariance(noise[0], noise[0]), expected, tolerance);
  EXPECT_NEAR(covariance(noise[1], noise[1]), expected, tolerance);
  EXPECT_NEAR(covariance(noise[0], noise[1]), 0, tolerance);
}

TEST(AgentGradient, ChangesWithTheRound) {
  EXPECT_NE(of_agent({.round = 0, .noise = 0}, 0), of_agent({.round = 1, .noise = 0}, 0));
}

}  // namespace
}  // namespace tributary
