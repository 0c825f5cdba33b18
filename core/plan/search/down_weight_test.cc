// Tests of the weight of the downlink that a plan sets for a codec with a rate.
#include "core/plan/search/down_weight.h"

#include <gtest/gtest.h>

#include "core/codec/registry.h"
#include "core/plan/inputs/inputs_testing.h"
#include "core/plan/search/measured_codecs.h"

namespace tributary {
namespace {

using plan_testing::beta_of_mbit;

double weight_of(double up_mbit, double down_mbit, std::string spec = "thc:rate=2",
                 wire::Collective collective = wire::Collective::star) {
  PlanInputs inputs = plan_testing::federation(up_mbit, 10);
  for (PlanAgent& agent : inputs.agents) agent.down_beta_s_per_byte = beta_of_mbit(down_mbit);
  return down_weight_of(inputs, {.codec = std::move(spec), .collective = collective});
}

TEST(DownWeight, IsTheRatioOfTheRatesAsAPowerOfTwo) {
  EXPECT_EQ(weight_of(10, 10), 1);
  EXPECT_EQ(weight_of(10, 13), 1) << "the nearest one";
  EXPECT_EQ(weight_of(10, 21), 0.5);
  EXPECT_EQ(weight_of(10, 40), 0.25);
  EXPECT_EQ(weight_of(40, 10), 4);
  EXPECT_EQ(weight_of(1, 1000), 0.125);
  EXPECT_EQ(weight_of(1000, 1), 8);
}

TEST(DownWeight, IsThatOfTheSlowestLinks) {
  PlanInputs inputs = plan_testing::federation(100, 10);
  inputs.agents[1].beta_s_per_byte = beta_of_mbit(4);
  inputs.agents[2].down_beta_s_per_byte = beta_of_mbit(16);
  EXPECT_EQ(down_weight_of(inputs, {.codec = "thc:rate=1"}), 1)
      << "an unknown downlink is taken as the uplink";
  for (PlanAgent& agent : inputs.agents) agent.down_beta_s_per_byte = beta_of_mbit(16);
  EXPECT_EQ(down_weight_of(inputs, {.codec = "thc:rate=1"}), 0.25);
  inputs.agents.clear();
  EXPECT_EQ(down_weight_of(inputs, {.codec = "thc:rate=1"}), 1);
}

TEST(DownWeight, StaysUntilTheLinksDifferClearly) {
  PlanInputs inputs = plan_testing::federation(10, 10);
  const PlanChoice choice = {.codec = "thc:rate=2"};
  inputs.before = {.choice = choice, .down_weight = 0.5};
  const auto with_down = [&](double mbit) {
    for (PlanAgent& agent : inputs.agents) agent.down_beta_s_per_byte = beta_of_mbit(mbit);
    return down_weight_of(inputs, choice);
  };
  EXPECT_EQ(with_down(12), 0.5);
  EXPECT_EQ(with_down(10), 1);
  EXPECT_EQ(with_down(33), 0.5);
  EXPECT_EQ(with_down(35), 0.25);
  EXPECT_EQ(down_weight_of(inputs, {.codec = "thc:rate=4"}), 0.25) << "another choice";
}

TEST(DownWeight, IsOneWithoutARateAndAmongPeers) {
  EXPECT_EQ(weight_of(1, 8, "thc:bits=4"), 1);
  EXPECT_EQ(weight_of(1, 8, "topk:cr=0.01"), 1);
  EXPECT_EQ(weight_of(1, 8, "thc:rate=2,down_weight=3"), 1) << "has its own";
  EXPECT_EQ(weight_of(1, 8, "thc:rate=2", wire::Collective::ring), 1);
}

// Every candidate that takes a weight is a codec with each of the weights, and is found again.
TEST(DownWeight, HasAPlaceInTheSpec) {
  std::size_t taken = 0;
  for (const std::string_view candidate : kPlannedCodecs) {
    const std::string spec(candidate);
    EXPECT_EQ(without_down_weight(spec), spec);
    if (!takes_down_weight(spec)) continue;
    ++taken;
    EXPECT_EQ(with_down_weight(spec, 1), spec);
    for (const double weight : {0.125, 0.25, 0.5, 2.0, 4.0, 8.0}) {
      const std::string weighted = with_down_weight(spec, weight);
      EXPECT_TRUE(make_codec(weighted).ok()) << weighted;
      EXPECT_FALSE(takes_down_weight(weighted));
      EXPECT_EQ(without_down_weight(weighted), spec);
    }
  }
  EXPECT_EQ(taken, 3u);
}

}  // namespace
}  // namespace tributary
