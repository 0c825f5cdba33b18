#include "coordinator/closed_loop/truth/true_federation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace tributary {
namespace {

PlanScenario random_scenario() {
  PlanScenario scenario;
  scenario.uplinks.random = RandomSteps();
  scenario.uplinks.factor = {0.5, 2};
  return scenario;
}

// The rates of an agent's uplink in the first two minutes.
std::vector<double> rates_of(const TrueAgent& agent) {
  std::vector<double> rates;
  for (int second = 0; second < 120; ++second) {
    rates.push_back(agent.up.seconds_per_byte(second));
  }
  return rates;
}

TEST(TrueFederation, TheSeedDeterminesEverything) {
  const PlanScenario scenario = random_scenario();
  const TrueFederation one = make_federation(scenario, 7);
  const TrueFederation same = make_federation(scenario, 7);
  const TrueFederation other = make_federation(scenario, 8);
  EXPECT_EQ(rates_of(one.agents[0]), rates_of(same.agents[0]));
  EXPECT_EQ(one.codec_time, same.codec_time);
  EXPECT_EQ(one.collective_time, same.collective_time);
  EXPECT_NE(rates_of(one.agents[0]), rates_of(other.agents[0]));
  EXPECT_NE(one.codec_time, other.codec_time);
}

TEST(TrueFederation, RandomStepsKeepTheirRangesAndChange) {
  const PlanScenario scenario = random_scenario();
  std::set<double> different;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const TrueFederation federation = make_federation(scenario, seed);
    for (const TrueAgent& agent : federation.agents) {
      for (const double s_per_byte : rates_of(agent)) {
        const double mbit_s = 8e-6 / s_per_byte;
        // Rates from 1 to 100 Mbit/s with a factor from 0.5 to 2.
        EXPECT_GE(mbit_s, 0.5 * (1 - 1e-9));
        EXPECT_LE(mbit_s, 200 * (1 + 1e-9));
        different.insert(s_per_byte);
      }
    }
  }
  EXPECT_GT(different.size(), 200u);
}

TEST(TrueFederation, AgentsShareTheStepsWithFactorsOfTheirOwn) {
  const TrueFederation federation = make_federation(random_scenario(), 3);
  const auto ratio = [&](double at_s) {
    return federation.agents[0].up.seconds_per_byte(at_s) /
           federation.agents[1].up.seconds_per_byte(at_s);
  };
  EXPECT_NE(ratio(1), 1);
  EXPECT_NEAR(ratio(1), ratio(100), 1e-9);
}

TEST(TrueFederation, OnlyTheLastAgentsAreSlow) {
  PlanScenario scenario;
  scenario.slow_agents = 1;
  scenario.slow_factor = 0.1;
  const TrueFederation federation = make_federation(scenario, 1);
  EXPECT_NEAR(federation.agents[2].up.seconds_per_byte(0), 8e-8, 1e-12);
  EXPECT_NEAR(federation.agents[3].up.seconds_per_byte(0), 8e-7, 1e-12);
}

TEST(TrueFederation, VisitorsComeAndGo) {
  PlanScenario scenario;
  scenario.visitors = 1;
  const TrueFederation federation = make_federation(scenario, 5);
  EXPECT_EQ(federation.present(0).size(), 4u);
  std::set<std::size_t> counts;
  double at_s = 0;
  for (int change = 0; change < 8; ++change) {
    at_s = federation.next_change_s(at_s);
    ASSERT_TRUE(std::isfinite(at_s));
    counts.insert(federation.present(at_s + 1e-6).size());
  }
  EXPECT_EQ(counts, (std::set<std::size_t>{3, 4}));
}

TEST(TrueFederation, WithoutDeviationsEveryFactorIsOne) {
  PlanScenario scenario;
  scenario.hidden = {.codec_time = 0, .payload_size = 0, .collective_time = 0, .device_report = 0};
  const TrueFederation federation = make_federation(scenario, 9);
  for (const auto& [spec, factor] : federation.codec_time) EXPECT_EQ(factor, 1) << spec;
  for (const auto& [spec, factor] : federation.payload_size) EXPECT_EQ(factor, 1) << spec;
  for (const double factor : federation.collective_time) EXPECT_EQ(factor, 1);
}

}  // namespace
}  // namespace tributary
