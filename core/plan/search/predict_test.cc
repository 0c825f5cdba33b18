// Tests of predicting the cost of one choice: the cost model's exchange plus training, worlds
// and assumptions.
#include "core/plan/search/predict.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/plan/inputs/inputs_testing.h"

namespace tributary {
namespace {

using plan_testing::beta_of_mbit;
using plan_testing::federation;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint64_t kBucket = 1u << 16;

const PlanCodec& codec(const PlanInputs& inputs, std::string_view spec) {
  for (const PlanCodec& one : inputs.codecs) {
    if (one.spec == spec) return one;
  }
  ADD_FAILURE() << spec;
  return inputs.codecs.front();
}

// The predictor adds training time to the cost model's exchange.
TEST(PlanPredictor, IsTheExchangesCostWithTheTrainingBefore) {
  const PlanInputs inputs = federation(100, 1);
  const PlanPredictor predictor(inputs);
  const PlanCost cost = predictor.cost(codec(inputs, "fp32"), wire::Collective::ring, 1, kBucket);
  const std::vector<StagePayload> stages = {{.flow = StageFlow::reduced,
                                             .up_bytes = 200 + 4.0 * kBucket,
                                             .down_bytes = 200 + 4.0 * kBucket,
                                             .encode_s = 0.2e-9 * kBucket,
                                             .aggregate_s = 0.2e-9 * kBucket}};
  const LinkEstimate line = {.alpha_s = 1e-3, .beta_s_per_byte = beta_of_mbit(100)};
  const ExchangeCost exchange =
      predict_exchange(wire::Collective::ring,
                       {.agents = 4, .buckets = 16, .stages = stages, .decode_s = 0.2e-9 * kBucket},
                       {.agents = line, .hub = line});
  EXPECT_DOUBLE_EQ(cost.exchange_s, exchange.seconds);
  EXPECT_DOUBLE_EQ(cost.round_s, exchange.seconds + 0.05);
  EXPECT_DOUBLE_EQ(cost.compress_s, 2 * 0.2e-9 * (1 << 20));
  EXPECT_EQ(cost.gain, 1);
}

// Agents use their links for both, so nothing overlaps. Each uploads four of 16 buckets.
TEST(PlanPredictor, PeersSettleTheirResultWithTheCoordinator) {
  const PlanInputs alone = federation(100, 1);
  PlanInputs settled = alone;
  settled.settled = true;
  const auto settlement_s = [&](std::string_view spec, wire::Collective kind, std::uint64_t each) {
    const auto cost = [&](const PlanInputs& inputs) {
      return PlanPredictor(inputs).cost(codec(inputs, spec), kind, 1, each).exchange_s;
    };
    return cost(settled) - cost(alone);
  };
  const double beta = beta_of_mbit(100);
  const double down_s = kPlanAndCommitBytes * beta;
  const double fixed_s = 0.002 + kReportBytes * beta + down_s;
  EXPECT_NEAR(settlement_s("fp32", wire::Collective::star, kBucket), down_s, 1e-9);
  EXPECT_NEAR(settlement_s("fp32", wire::Collective::ring, kBucket),
              fixed_s + 4 * (200 + 4.0 * kBucket) * beta, 1e-9);
  // The members share the upload of one large bucket.
  EXPECT_NEAR(settlement_s("fp32", wire::Collective::ring, 1u << 20),
              fixed_s + (200 + 4.0 * (1u << 20)) / 4 * beta, 1e-9);
}

// An upload that is shorter than the training costs nothing, and of a longer one the rest. By the
// star an agent waits for the result before it trains.
TEST(PlanPredictor, ATrainingHidesTheUploadOfPeers) {
  for (const double compute_s : {0.01, 0.1, 10.0}) {
    PlanInputs inputs = federation(20, 1);
    inputs.settled = true;
    for (PlanAgent& agent : inputs.agents) agent.compute_s = compute_s;
    PlanInputs ahead = inputs;
    ahead.trains_ahead = true;
    const PlanPredictor predictor(ahead);
    for (const wire::Collective kind : kCollectives) {
      const PlanCodec& fp16 = codec(ahead, "fp16");
      const PreparedExchange exchange = predictor.prepare(fp16, kind, 1, 1u << 20);
      const ExchangeParts parts = predictor.parts_s(exchange, predictor.typical());
      const double round_s = predictor.cost(fp16, kind, 1, 1u << 20).round_s;
      const bool star = kind == wire::Collective::star;
      EXPECT_NEAR(round_s,
                  parts.exchange_s +
                      (star ? parts.upload_s + compute_s : std::max(parts.upload_s, compute_s)),
                  1e-9);
      const double beside_s =
          PlanPredictor(inputs).cost(codec(inputs, "fp16"), kind, 1, 1u << 20).round_s;
      EXPECT_EQ(round_s < beside_s, !star) << wire::EnumNameCollective(kind);
    }
  }
}

// The overhead shifts all predictions equally.
TEST(PlanPredictor, TimeCommonToAllRoundsChangesNoOrder) {
  PlanInputs inputs = federation(100, 1);
  inputs.overhead_s = 0.25;
  const PlanInputs without = federation(100, 1);
  for (const wire::Collective kind : kCollectives) {
    const auto cost = [&](const PlanInputs& of) {
      return PlanPredictor(of).cost(codec(of, "fp16"), kind, 1, kBucket);
    };
    EXPECT_NEAR(cost(inputs).exchange_s, cost(without).exchange_s + 0.25, 1e-12);
    EXPECT_NEAR(cost(inputs).round_s, cost(without).round_s + 0.25, 1e-12);
  }
}

// Predictions grow monotonically as links get slower.
TEST(PlanPredictor, SlowerLinesAndMoreValuesNeverCostLess) {
  for (const wire::Collective kind : kCollectives) {
    double before = 0;
    for (const double mbit : {1000, 100, 10, 1}) {
      const PlanInputs inputs = federation(mbit, 5);
      const double seconds =
          PlanPredictor(inputs).cost(codec(inputs, "fp16"), kind, 1, kBucket).exchange_s;
      EXPECT_GT(seconds, before) << wire::EnumNameCollective(kind) << " at " << mbit;
      before = seconds;
    }
  }
}

// The agreement interpolates between random positions (0) and the other agents' own positions (1).
TEST(PlanPredictor, OneAgentsPlacesHoldLessOfTheOthersUpdates) {
  PlanInputs inputs = federation(100, 1);
  const auto gain = [&](std::string_view spec) {
    return PlanPredictor(inputs)
        .cost(codec(inputs, spec), wire::Collective::ring, 0.01, kBucket)
        .gain;
  };
  EXPECT_DOUBLE_EQ(gain("topk"), 0.34);
  EXPECT_LT(gain("star_topk"), gain("topk"));
  inputs.agreement = 1;
  EXPECT_DOUBLE_EQ(gain("star_topk"), gain("topk"));
  inputs.agreement = 0;
  EXPECT_DOUBLE_EQ(gain("star_topk"), (0.34 + 3 * 0.01) / 4);
}

// A smaller ratio removes the delay of a slow agent, at the cost of some gain.
TEST(PlanPredictor, ASlowAgentSendsLessAndDelaysNoOther) {
  PlanInputs inputs = federation(100, 1);
  const auto cost = [&](double ratio_min) {
    inputs.policy.ratio_min = ratio_min;
    return PlanPredictor(inputs).cost(codec(inputs, "topk"), wire::Collective::star, 0.1, kBucket);
  };
  inputs.hub_beta_s_per_byte = 0;
  for (PlanAgent& agent : inputs.agents) agent.down_beta_s_per_byte = beta_of_mbit(1000);
  const PlanCost alike = cost(0.001);
  inputs.agents[2].beta_s_per_byte = beta_of_mbit(10);
  const PlanCost held_back = cost(0.1);  // ratio_min allows no smaller ratio
  const PlanCost sends_less = cost(0.001);
  EXPECT_GT(held_back.exchange_s, 5 * alike.exchange_s);
  EXPECT_NEAR(sends_less.exchange_s, alike.exchange_s, 0.05 * alike.exchange_s);
  EXPECT_LT(sends_less.gain, alike.gain);
  EXPECT_GT(sends_less.gain, 0.75 * alike.gain);  // the other three agents keep the full ratio
  const std::vector<double> ratios =
      PlanPredictor(inputs).ratios(codec(inputs, "topk"), wire::Collective::star, 0.1, kBucket);
  ASSERT_EQ(ratios.size(), 4u);
  EXPECT_EQ(ratios[0], 0.1);
  EXPECT_NEAR(ratios[2], 0.01, 1e-3);
}

// A difference within link_change, or an unmeasured link, gives no agent a smaller ratio.
TEST(PlanPredictor, NoAgentSendsLessForAMeasurementErrorOrAnUnmeasuredLink) {
  PlanInputs inputs = federation(1000, 1);
  for (PlanAgent& agent : inputs.agents) agent.down_beta_s_per_byte = beta_of_mbit(100'000);
  const auto ratios = [&] {
    return PlanPredictor(inputs).ratios(codec(inputs, "topk"), wire::Collective::star, 0.1,
                                        kBucket);
  };
  inputs.agents[0].beta_s_per_byte *= 1.15;
  EXPECT_TRUE(ratios().empty());
  inputs.agents[1].beta_s_per_byte = kNan;  // counts as a link of the assumed rate
  EXPECT_TRUE(ratios().empty());
  inputs.agents[0].beta_s_per_byte *= 2;
  ASSERT_EQ(ratios().size(), 4u);
  EXPECT_LT(ratios()[0], 0.05);
  EXPECT_EQ(ratios()[1], 0.1);
}

// The download takes as long as the upload would, so a smaller ratio saves no time.
TEST(PlanPredictor, TheDownloadSetsTheLeastUsefulRatio) {
  PlanInputs inputs = federation(100, 1);
  // The downlink carries all agents' positions and is as slow.
  inputs.agents[2].beta_s_per_byte = beta_of_mbit(10);
  EXPECT_TRUE(PlanPredictor(inputs)
                  .ratios(codec(inputs, "topk"), wire::Collective::star, 0.01, kBucket)
                  .empty());
}

// A rate is bounded, so that the cost stays finite.
TEST(PlanPredictor, ALineThatCarriesNothingStillHasACost) {
  PlanInputs inputs = federation(100, 1);
  inputs.agents[0].beta_s_per_byte = 1e6;
  const PlanCost cost =
      PlanPredictor(inputs).cost(codec(inputs, "fp32"), wire::Collective::star, 1, kBucket);
  EXPECT_GT(cost.exchange_s, 1000);
  EXPECT_LT(cost.exchange_s, 1e6);
}

// An agent has its results when the first part ends; the second one is the upload of the results.
TEST(PlanPredictor, SeparatesTheUploadFromTheExchangeAmongPeers) {
  PlanInputs inputs = federation(100, 1);
  inputs.settled = true;
  inputs.overhead_s = 0.02;
  const PlanPredictor predictor(inputs);
  const auto parts = [&](wire::Collective kind, const PlanWorld& world) {
    return predictor.parts_s(predictor.prepare(codec(inputs, "fp32"), kind, 1, kBucket), world);
  };
  PlanWorld slow = predictor.worlds().front();
  for (PlanWorld::Link& link : slow.links) link.rate.up *= 10;
  slow.summarize();
  const ExchangeParts peers = parts(wire::Collective::ring, predictor.worlds().front());
  const ExchangeParts slower = parts(wire::Collective::ring, slow);
  EXPECT_DOUBLE_EQ(slower.exchange_s, peers.exchange_s);
  EXPECT_GT(slower.upload_s, 5 * peers.upload_s);
  EXPECT_DOUBLE_EQ(parts(wire::Collective::star, slow).upload_s, 0.02);
}

// Three buckets of one segment each are uploaded by the first three agents.
TEST(PlanPredictor, ASlowLinkDelaysNoUploadInWhichItHasNoPart) {
  PlanInputs inputs = federation(100, 1);
  inputs.settled = inputs.trains_ahead = true;
  const PlanPredictor predictor(inputs);
  const auto upload_s = [&](std::size_t slow_agent) {
    PlanWorld world = predictor.worlds().front();
    world.links[slow_agent].rate.up *= 10;
    world.summarize();
    return predictor
        .parts_s(predictor.prepare(codec(inputs, "threelc:s=1"), wire::Collective::ring, 1,
                                   inputs.values / 3 + 1),
                 world)
        .upload_s;
  };
  ASSERT_EQ(upload_segments(0.2 * 349'526 + 200, 4), 4);
  EXPECT_NEAR(upload_s(0), upload_s(3), 1e-9);
  inputs.values = 60'000;
  ASSERT_EQ(upload_segments(0.2 * 20'000 + 200, 4), 1);
  EXPECT_GT(upload_s(0), upload_s(3) + 0.002);
}

// The cost is the geometric mean over the worlds of the belief, each with its own links and
// factors.
TEST(PlanPredictor, TheCostIsTheMeanOverAllWorlds) {
  PlanInputs inputs = federation(100, 1);
  const PlanWorld stated = PlanPredictor(inputs).worlds().front();
  const auto seconds = [&](const char* spec, wire::Collective kind) {
    return PlanPredictor(inputs).cost(codec(inputs, spec), kind, 1, kBucket).exchange_s;
  };
  const double ring = seconds("fp16", wire::Collective::ring);
  const double star = seconds("fp16", wire::Collective::star);
  inputs.worlds = {stated, stated};
  inputs.worlds[1].times[times_place(1, wire::Collective::ring)] = 4;
  ASSERT_EQ(inputs.codecs[1].spec, "fp16");
  EXPECT_NEAR(seconds("fp16", wire::Collective::ring), 2 * ring, 1e-9 * ring);
  EXPECT_NEAR(seconds("fp16", wire::Collective::star), star, 1e-9 * star);
  for (PlanWorld::Link& link : inputs.worlds[0].links) link.rate.up *= 10;
  inputs.worlds[0].summarize();
  EXPECT_GT(seconds("fp16", wire::Collective::star), 1.4 * star);
}

// The ratio is rounded to the digits in the spec.
TEST(PlanChoice, SaysTheRatioAsItsSpecDoes) {
  const PlanInputs inputs = federation(100, 1);
  const PlanChoice choice =
      make_choice(codec(inputs, "topk"), wire::Collective::star, 0.0123456, kBucket);
  EXPECT_EQ(choice.codec, "topk:cr=0.0123");
  EXPECT_EQ(choice.ratio, 0.0123);
  EXPECT_EQ(find_codec(inputs, choice), &codec(inputs, "topk"));
  EXPECT_EQ(find_codec(inputs, {.codec = "qsgd", .bucket_values = 1}), nullptr);
}

}  // namespace
}  // namespace tributary
