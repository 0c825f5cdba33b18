// The planner's cost model beside the true network, which knows none of its formulas.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include "coordinator/closed_loop/truth/closed_loop_testing.h"
#include "coordinator/closed_loop/truth/declared_codecs.h"
#include "coordinator/closed_loop/truth/true_exchange.h"
#include "coordinator/closed_loop/truth/true_rounds.h"
#include "core/collective/result_segments.h"
#include "core/cost/exchange_cost.h"
#include "core/plan/search/predict.h"

namespace tributary {
namespace {

using closed_loop_testing::choice_of;
using closed_loop_testing::steady;

constexpr double kUplinkAlpha_s = 0.001;
constexpr double kPeersAlpha_s = 0.004;

double s_per_byte(double mbit_s) { return 8e-6 / mbit_s; }

PlanScenario scenario_of(double uplink_mbit_s, double peers_mbit_s, bool train_ahead) {
  PlanScenario scenario = steady(uplink_mbit_s, kUplinkAlpha_s * 1e3);
  scenario.values = 61'706;
  scenario.train_ahead = train_ahead;
  scenario.peers = PlanLinkSettings{.rate_mbit_s = {peers_mbit_s, peers_mbit_s},
                                    .delay_ms = {kPeersAlpha_s * 1e3, kPeersAlpha_s * 1e3}};
  return scenario;
}

// The second round of a choice, after the first one has opened the connections' windows.
double played_s(const PlanScenario& scenario, const PlanChoice& choice) {
  const TrueFederation federation = make_federation(scenario, 1);
  TrueRounds rounds(scenario, federation, std::nullopt);
  const TrueRound first = rounds.play(choice, {}, 1);
  const TrueRound round = rounds.play(choice, {}, first.ends_s);
  return round.ends_s - round.began_s - round.training_s;
}

// The agents' code, the cost model and the truth have the rule each for itself.
TEST(ResultSegments, AllDivideAResultIntoTheSameSegments) {
  for (const std::uint32_t agents : {1u, 2u, 3u, 7u, 64u}) {
    for (std::uint64_t bytes = 0; bytes <= 80 * kSegmentBytesMin; bytes += kSegmentBytesMin / 4) {
      for (const std::uint64_t each : {bytes, bytes + 1, bytes + kSegmentBytesMin / 4 - 1}) {
        const auto result_bytes = static_cast<double>(each);
        EXPECT_EQ(true_segments(result_bytes, agents), segments_of(each, agents)) << each << " B";
        EXPECT_EQ(true_segments(result_bytes, agents), upload_segments(result_bytes, agents))
            << each << " B";
      }
    }
  }
}

using Case = std::tuple<double, double, wire::Collective, std::uint64_t, bool>;
class CostModel : public testing::TestWithParam<Case> {};

// Uplinks that are slower than the agents' own network make the upload of the results as long as
// the exchange. The mean error is 6 %.
TEST_P(CostModel, TakesAboutAsLongAsTheTruth) {
  const auto [uplink, peers, kind, bucket_values, train_ahead] = GetParam();
  const PlanScenario scenario = scenario_of(uplink, peers, train_ahead);
  PlanInputs inputs = {.values = scenario.values,
                       .peer_alpha_s = kPeersAlpha_s,
                       .peer_beta_s_per_byte = s_per_byte(peers),
                       .peers_reachable = true,
                       .message_s = 30e-6,
                       .settled = true,
                       .trains_ahead = train_ahead,
                       .codecs = declared_codecs()};
  for (std::uint32_t i = 0; i < scenario.agents; ++i) {
    inputs.agents.push_back({.alpha_s = kUplinkAlpha_s,
                             .beta_s_per_byte = s_per_byte(uplink),
                             .compute_s = 0.05,
                             .gain = declared_curve()});
  }
  const PlanPredictor predictor(inputs);
  // Connections of a tree carry one large payload each, and begin slowly, which the model ignores.
  const bool slow_start =
      (kind == wire::Collective::tree || kind == wire::Collective::halving_doubling) &&
      bucket_values == scenario.values;
  for (const char* spec : {"threelc", "threelc:s=1.75", "thc:rate=2", "fp16"}) {
    const PlanChoice choice = choice_of(spec, kind, bucket_values);
    const double predicted_s =
        predictor.exchange_s(predictor.prepare(*find_codec(inputs, choice), kind, 1, bucket_values),
                             predictor.typical());
    const double truth_s = played_s(scenario, choice);
    EXPECT_NEAR(std::log(predicted_s / truth_s), 0, slow_start ? 0.5 : 0.25) << spec;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, CostModel,
                         testing::Combine(testing::Values(0.5, 8), testing::Values(8, 100),
                                          testing::ValuesIn(kCollectives),
                                          testing::Values(4'096, 16'384, 61'706), testing::Bool()));

}  // namespace
}  // namespace tributary
