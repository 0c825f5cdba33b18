// Tests of correcting predictions by measured rounds: convergence, bounds, and fading.
#include "core/plan/corrections.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <limits>

#include "core/plan/inputs/inputs_testing.h"
#include "core/plan/inputs/learned_factor.h"

namespace tributary {
namespace {

using plan_testing::federation;

class Corrections : public testing::Test {
 protected:
  PlanOption predicted() const {
    const PlanCodec& codec = inputs.codecs[1];
    const PlanPredictor predictor(inputs);
    return {.choice = make_choice(codec, wire::Collective::ring, 1, 1u << 16),
            .cost = predictor.cost(codec, wire::Collective::ring, 1, 1u << 16)};
  }

  PlanInputs inputs = federation(100, 1);
};

// Repeated corrections make the prediction converge to the measured time.
TEST_F(Corrections, PredictionsConvergeToMeasurements) {
  const double measured_s = 1.8 * predicted().cost.exchange_s;
  for (int round = 0; round < 20; ++round) {
    learn(inputs.corrections, inputs.codecs[1], predicted(), measured_s);
  }
  EXPECT_NEAR(predicted().cost.exchange_s, measured_s, 0.01 * measured_s);
}

// Neither a factor nor the number of keys grows without bound.
TEST_F(Corrections, AreBounded) {
  for (int round = 0; round < 100; ++round) {
    learn(inputs.corrections, inputs.codecs[1], predicted(), 1e9);
  }
  EXPECT_EQ(inputs.corrections.at("ring fp16"), kCorrectionMax);
  for (int i = 0; i < 1000; ++i) {
    PlanCodec other = inputs.codecs[1];
    other.spec = fmt::format("other{}", i);
    learn(inputs.corrections, other, predicted(), 1);
  }
  EXPECT_EQ(inputs.corrections.size(), kCorrectionsMax);
}

// Evidence about a recent choice moves its factor farther.
TEST_F(Corrections, TheFirstRoundsOfAChoiceCountMore) {
  std::map<std::string, double> young;
  std::map<std::string, double> old;
  const double measured_s = 4 * predicted().cost.exchange_s;
  learn(young, inputs.codecs[1], predicted(), measured_s, true);
  learn(old, inputs.codecs[1], predicted(), measured_s, false);
  EXPECT_DOUBLE_EQ(young.at("ring fp16"), 2);
  EXPECT_LT(old.at("ring fp16"), 1.3);
}

// A choice without a correction gets the mean of the others, and an additional doubt if its
// collective was never used.
TEST_F(Corrections, AnUntriedCollectiveIsDoubtedMore) {
  const std::map<std::string, double> corrections = {{"star fp16", 1}};
  const PlanCodec& thc = inputs.codecs[2];
  EXPECT_DOUBLE_EQ(learned_factor({}, wire::Collective::ring, thc), 1) << "as all others";
  EXPECT_DOUBLE_EQ(learned_factor(corrections, wire::Collective::star, thc), 1);
  EXPECT_GT(learned_factor(corrections, wire::Collective::ring, thc), 1.1);
}

// Only the factor of the choice in force stays; the others move to 1.
TEST_F(Corrections, FadeWhereTheirChoiceIsNotInForce) {
  std::map<std::string, double> corrections = {
      {"ring fp16", 4}, {"star fp16", 4}, {"star thc", 0.25}};
  for (int i = 0; i < 34; ++i) fade(corrections, "ring fp16");  // half-life in rounds
  EXPECT_EQ(corrections.at("ring fp16"), 4);
  EXPECT_NEAR(corrections.at("star fp16"), 2, 0.02);
  EXPECT_NEAR(corrections.at("star thc"), 0.5, 0.01);
}

TEST_F(Corrections, ImpossibleReadingsTeachNothing) {
  for (const double wrong : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity()}) {
    learn(inputs.corrections, inputs.codecs[1], predicted(), wrong);
  }
  EXPECT_TRUE(inputs.corrections.empty());
}

}  // namespace
}  // namespace tributary
