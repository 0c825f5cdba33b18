// THC from the view of agents and aggregators: its errors, the contents of its sums, and its
// refusals.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/bytes/bits.h"
#include "core/codec/codec_testing.h"
#include "core/codec/thc/body.h"
#include "core/codec/thc/packing.h"
#include "core/codec/thc/table/table_plan.h"

namespace tributary::thc {
namespace {

using codec_testing::codec_of;
using codec_testing::Pattern;
using codec_testing::Round;
using codec_testing::spans;

// Lognormal magnitudes with random signs. `noise` is each agent's own part, as a share of the
// standard deviation.
std::vector<FloatVector> related_gradients(std::size_t values, std::uint32_t agents, double noise) {
  const FloatVector base = codec_testing::update(Pattern::lognormal, values, 1000);
  double squares = 0;
  for (const float value : base) squares += static_cast<double>(value) * static_cast<double>(value);
  const double deviation = noise * std::sqrt(squares / static_cast<double>(values));
  std::vector<FloatVector> all;
  for (std::uint32_t agent = 0; agent < agents; ++agent) {
    const FloatVector own = codec_testing::update(Pattern::normal, values, agent);
    FloatVector update(values);
    for (std::size_t i = 0; i < values; ++i) {
      update[i] = base[i] + static_cast<float>(deviation * static_cast<double>(own[i]));
    }
    all.push_back(std::move(update));
  }
  return all;
}

FloatVector decoded_sum(const Codec& codec, const std::vector<FloatVector>& all,
                        std::uint64_t round) {
  const SystemClock clock;
  const auto values = static_cast<std::uint32_t>(all[0].size());
  LocalExchange exchange(codec, values, static_cast<std::uint32_t>(all.size()), false, clock);
  FloatVector sum(values);
  const auto traffic = exchange.play({.job_seed = 11, .round = round}, {}, spans(all), sum);
  EXPECT_TRUE(traffic.ok()) << traffic.status().text();
  return sum;
}

double nmse(const std::string& spec, const std::vector<FloatVector>& all,
            std::uint32_t rounds = 1) {
  const auto codec = codec_of(spec);
  double error = 0;
  double energy = 0;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const FloatVector sum = decoded_sum(*codec, all, round);
    for (std::size_t i = 0; i < sum.size(); ++i) {
      double truth = 0;
      for (const FloatVector& update : all) truth += static_cast<double>(update[i]);
      const double off = static_cast<double>(sum[i]) - truth;
      error += off * off;
      energy += truth * truth;
    }
  }
  return error / energy;
}

// The planner's prediction must match the measured error within 5 %.
TEST(ThcError, IsTheAnalyticErrorForIdenticalGradients) {
  const auto all = related_gradients(1u << 18, 4, 0);
  for (const auto& [bits, granularity, p] :
       {std::tuple{4u, 30u, 1.0 / 32}, std::tuple{4u, 63u, 1.0 / 256}, std::tuple{2u, 7u, 1.0 / 32},
        std::tuple{3u, 21u, 1.0 / 64}, std::tuple{6u, 255u, 1.0 / 4096}}) {
    const Result<TablePlan> plan =
        plan_table({.bits = bits, .granularity = granularity, .p = p, .agents = 4});
    ASSERT_TRUE(plan.ok());
    const std::string spec = "thc:rounding=independent,bits=" + std::to_string(bits) +
                             ",granularity=" + std::to_string(granularity) +
                             ",p=" + std::to_string(p);
    EXPECT_NEAR(nmse(spec, all) / plan->expected_nmse, 1, 0.05) << spec;
  }
}

// Agents that differ by 10 % of the standard deviation.
TEST(ThcError, MeetsItsGoalForRelatedGradients) {
  const auto all = related_gradients(1u << 18, 4, 0.1);
  EXPECT_LE(nmse("thc", all), 0.003);
  EXPECT_LE(nmse("thc:down=8", all), 0.003);
  EXPECT_NEAR(nmse("thc:rounding=independent", all), 0.0054, 0.0004);
}

// Equal updates gain most from correlated rounding; independent updates must not lose.
TEST(ThcError, CorrelatedRoundingNeverCostsAndOftenGains) {
  const auto alike = related_gradients(1u << 16, 4, 0);
  EXPECT_LT(nmse("thc", alike), 0.5 * nmse("thc:rounding=independent", alike));
  const auto unlike = codec_testing::updates(Pattern::normal, 1u << 16, 4);
  EXPECT_LT(nmse("thc", unlike), nmse("thc:rounding=independent", unlike));
}

TEST(ThcError, SmallBlocksCostLittleOnNormalUpdates) {
  const auto all = codec_testing::updates(Pattern::normal, 1u << 16, 2);
  EXPECT_NEAR(nmse("thc:block=256", all) / nmse("thc", all), 1, 0.1);
}

// With 200 rounds of the same update, the mean of the decoded values must approach the update in
// every coordinate. p is so small that nothing is truncated.
void expect_unbiased(const std::string& spec, std::uint32_t planned, std::uint32_t present) {
  constexpr std::uint32_t kValues = 4096 + 300;
  constexpr std::uint32_t kRounds = 200;
  const auto codec = codec_of(spec);
  const auto all = codec_testing::updates(Pattern::normal, kValues, present);
  std::vector<double> mean(kValues, 0.0);
  std::vector<double> squares(kValues, 0.0);
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    std::vector<Bytes> combined;
    for (std::size_t stage = 0; stage < 2; ++stage) {
      const std::vector<ByteSpan> before(combined.begin(), combined.end());
      StageCall call = {.round = {.round = round, .agents = planned}, .combined = before};
      const auto aggregator = codec->make_aggregator(stage, kValues);
      ASSERT_TRUE(aggregator->begin(call, {}).ok());
      for (std::uint32_t agent = 0; agent < present; ++agent) {
        call.round.agent = agent;
        Bytes payload;
        ASSERT_TRUE(codec->make_encoder(kValues)->encode(call, all[agent], payload).ok());
        ASSERT_TRUE(aggregator->add(call, payload).ok());
      }
      ASSERT_TRUE(aggregator->finish(call, combined.emplace_back()).ok());
    }
    const std::vector<ByteSpan> norms = {combined[0]};
    FloatVector sum(kValues);
    ASSERT_TRUE(codec
                    ->decode({.round = {.round = round, .agents = planned}, .combined = norms},
                             combined[1], sum)
                    .ok());
    for (std::uint32_t i = 0; i < kValues; ++i) {
      double truth = 0;
      for (const FloatVector& update : all) truth += static_cast<double>(update[i]);
      const double off = static_cast<double>(sum[i]) - truth;
      mean[i] += off / kRounds;
      squares[i] += off * off / kRounds;
    }
  }
  double worst = 0;
  double total = 0;
  for (std::uint32_t i = 0; i < kValues; ++i) {
    const double deviations = mean[i] / std::sqrt(squares[i] / kRounds);
    worst = std::max(worst, std::abs(deviations));
    total += deviations * deviations;
  }
  // Some of thousands of means lie beyond 4 standard errors (one in 16,000). All must stay within
  // 5, and their mean square must be 1.
  EXPECT_LE(worst, 5) << spec;
  EXPECT_NEAR(total / kValues, 1, 4 * std::sqrt(2.0 / kValues) + 0.02) << spec;
}

TEST(ThcError, IsUnbiasedInsideTheRange) {
  expect_unbiased("thc:p=1e-9,rounding=independent", 3, 3);
  expect_unbiased("thc:p=1e-9", 3, 3);
  expect_unbiased("thc:p=1e-9,bits=2", 4, 4);
}

// Rounding is correlated for five planned agents, of which only three contribute.
TEST(ThcError, StaysUnbiasedWhenContributorsAreMissing) { expect_unbiased("thc:p=1e-9", 5, 3); }

TEST(ThcRounding, IndependentAgentsDrawIndependently) {
  const auto codec = codec_of("thc:rounding=independent");
  const std::vector<FloatVector> all(2, codec_testing::update(Pattern::normal, 4096, 0));
  Round round(*codec, all, 2);
  EXPECT_NE(round.payload(1, 0), round.payload(1, 1));
}

TEST(ThcSums, HaveThePlannedWidth) {
  const auto all = codec_testing::updates(Pattern::normal, 6400, 4);
  for (const auto& [spec, bits] :
       {std::pair{"thc:granularity=30,p=0.03125", 7u}, std::pair{"thc:granularity=63", 8u},
        std::pair{"thc:granularity=64", 9u}, std::pair{"thc:granularity=30,down=8", 8u},
        std::pair{"thc:granularity=30,down=16", 16u},
        std::pair{"thc:bits=8,granularity=1023,p=0.001", 12u}}) {
    const auto codec = codec_of(spec);
    Round round(*codec, all, 4);
    const Result<OpenPayload> open = open_payload({}, round.combined(1));
    ASSERT_TRUE(open.ok()) << open.status().text();
    EXPECT_EQ(open->header.layout, bits) << spec;
    EXPECT_EQ(open->header.contributors, 4u);
    EXPECT_EQ(open->body.size(), kStampBytes + 6400 * bits / 8) << spec;
    const Result<OpenPayload> own = open_payload({}, round.payload(1, 0));
    ASSERT_TRUE(own.ok());
    EXPECT_EQ(
        own->body.size(),
        kStampBytes + 6400u * (codec->spec().find("bits=8") != std::string::npos ? 8 : 4) / 8);
  }
}

TEST(ThcSums, DoNotWrapForManyAgents) {
  // Half of all coordinates of all agents are at one end of the grid, which gives the largest
  // possible sum.
  constexpr std::uint32_t kAgents = 300;
  const auto codec = codec_of("thc:bits=8,granularity=1023,p=0.5");
  const FloatVector update = codec_testing::update(Pattern::normal, 640, 0);
  Round round(*codec, std::vector<FloatVector>(kAgents, update), kAgents);
  const Result<OpenPayload> open = open_payload({}, round.combined(1));
  ASSERT_TRUE(open.ok());
  ASSERT_EQ(open->header.layout, 19u);
  RawVector<std::uint32_t> sums(640);
  unpack_fields(open->body.data() + kStampBytes, 640, 19, sums.data());
  EXPECT_EQ(std::ranges::max(sums), kAgents * 1023);
  EXPECT_EQ(std::ranges::min(sums), 0u);
  FloatVector sum(640);
  FloatVector one(640);
  ASSERT_TRUE(codec->decode(round.call(1), round.combined(1), sum).ok());
  ASSERT_TRUE(codec->decode(round.call(1), round.payload(1, 0), one).ok());
  for (std::size_t i = 0; i < 640; ++i) EXPECT_NEAR(sum[i] / kAgents, one[i], 0.05) << i;
}

// 18 agents times the minimum granularity 15 exceed 8 bits.
TEST(ThcSums, RefuseAPlanTheyCannotHold) {
  const auto codec = codec_of("thc:down=8");
  const auto aggregator = codec->make_aggregator(1, 64);
  Bytes norms;
  ASSERT_TRUE(
      codec->make_encoder(64)
          ->encode({.round = {.agents = 18}}, codec_testing::update(Pattern::normal, 64, 0), norms)
          .ok());
  const std::vector<ByteSpan> combined = {norms};
  const StageCall call = {.round = {.agents = 18}, .combined = combined};
  EXPECT_EQ(aggregator->begin(call, {}).code(), StatusCode::resource_exhausted);
}

// Other numbers of agents have other tables, whose levels cannot be added.
TEST(ThcSums, RefuseThePayloadOfAnotherPlan) {
  const auto codec = codec_of("thc");
  const auto all = codec_testing::updates(Pattern::normal, 640, 1);
  Round for_four(*codec, all, 4);
  Round for_ten(*codec, all, 10);
  const auto aggregator = codec->make_aggregator(1, 640);
  ASSERT_TRUE(aggregator->begin(for_four.call(1), {}).ok());
  EXPECT_EQ(aggregator->add(for_four.call(1), for_ten.payload(1, 0)).code(), StatusCode::mismatch);
  FloatVector sum(640);
  EXPECT_EQ(codec->decode(for_four.call(1), for_ten.payload(1, 0), sum).code(),
            StatusCode::mismatch);
}

TEST(ThcSums, LargerThanTheirContributorsAreRefused) {
  const auto codec = codec_of("thc:granularity=40");  // sums of 8 bits, up to 160 of 255
  const auto all = codec_testing::updates(Pattern::normal, 640, 4);
  Round round(*codec, all, 4);
  Bytes hostile = round.combined(1);
  // The first sum, one above the maximum of 4 contributors.
  hostile[hostile.size() - 640] = 161;
  seal_payload({}, hostile);
  FloatVector sum(640);
  EXPECT_EQ(codec->decode(round.call(1), hostile, sum).code(), StatusCode::corrupt_data);
  const auto aggregator = codec->make_aggregator(1, 640);
  ASSERT_TRUE(aggregator->begin(round.call(1), {}).ok());
  EXPECT_EQ(aggregator->add(round.call(1), hostile).code(), StatusCode::corrupt_data);
}

// A chain of partial sums, as in a ring; the fields get wider with every contributor.
TEST(ThcSums, HopByHopComeToTheSameBytes) {
  for (const char* const spec : {"thc", "thc:bits=3", "thc:down=16", "thc:bits=6",
                                 "thc:range=minmax,rotation=off", "thc:rate=2.5"}) {
    const auto codec = codec_of(spec);
    const auto all = codec_testing::updates(Pattern::lognormal, 70'000, 6);
    Round round(*codec, all, 6);
    const StageCall call = round.call(1);
    Bytes along;
    for (std::size_t agent = 0; agent < 6; ++agent) {
      const auto hop = codec->make_aggregator(1, 70'000);
      ASSERT_TRUE(hop->begin(call, {}).ok());
      if (agent > 0) {
        ASSERT_TRUE(hop->add(call, along).ok());
      }
      ASSERT_TRUE(hop->add(call, round.payload(1, agent)).ok());
      EXPECT_EQ(hop->contributors(), agent + 1);
      ASSERT_TRUE(hop->finish(call, along).ok());
    }
    EXPECT_EQ(along, round.combined(1)) << spec;
  }
}

TEST(ThcNorms, ABlockOfZerosDecodesToZeros) {
  const auto codec = codec_of("thc:block=64");
  FloatVector update = codec_testing::update(Pattern::normal, 192, 0);
  std::fill(update.begin() + 64, update.begin() + 128, -0.0f);
  const FloatVector sum = decoded_sum(*codec, {update, update}, 0);
  for (std::size_t i = 64; i < 128; ++i) EXPECT_EQ(std::bit_cast<std::uint32_t>(sum[i]), 0u);
  EXPECT_NE(sum[0], 0);
}

// The range is the maximum over agents, so the large update is not clamped.
TEST(ThcNorms, TheLargestAgentSetsTheRange) {
  const auto codec = codec_of("thc:bits=8");
  FloatVector large = codec_testing::update(Pattern::normal, 4096, 0);
  FloatVector small = codec_testing::update(Pattern::normal, 4096, 1);
  for (float& value : large) value *= 100;
  const FloatVector sum = decoded_sum(*codec, {large, small}, 0);
  double error = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    error = std::max(error, std::abs(static_cast<double>(sum[i] - large[i] - small[i])));
  }
  EXPECT_LT(error, 10) << "in units of which the large update has 100";
}

// A range from an earlier round would clamp values. Error feedback sends the clamped part later.
TEST(ThcNorms, ClampedValuesFollowInLaterRounds) {
  const auto codec = codec_of("thc:p=0.5");
  const auto all = codec_testing::updates(Pattern::normal, 4096, 2);
  const SystemClock clock;
  LocalExchange exchange(*codec, 4096, 2, true, clock);
  FloatVector sum(4096);
  std::vector<double> total(4096, 0.0);
  constexpr std::uint32_t kRounds = 60;
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    ASSERT_TRUE(exchange.play({.round = round}, {}, spans(all), sum).ok());
    for (std::size_t i = 0; i < sum.size(); ++i) total[i] += static_cast<double>(sum[i]);
  }
  double error = 0;
  double energy = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    const double truth =
        kRounds * (static_cast<double>(all[0][i]) + static_cast<double>(all[1][i]));
    error += (total[i] - truth) * (total[i] - truth);
    energy += truth * truth;
  }
  EXPECT_LT(error / energy, 0.01);
}

// The paper's Algorithm 1. With 16 even levels over a range of 30, odd integers lie on levels if
// its ends do. The ends of a block are at different agents.
TEST(ThcRange, ValuesOnLevelsArriveUnchanged) {
  const auto codec = codec_of("thc:levels=uniform,range=minmax,rotation=off,block=64");
  for (const float centre : {0.0f, 10.0f, -4.0f}) {
    std::vector<FloatVector> all(3, FloatVector(200));
    for (std::uint32_t agent = 0; agent < all.size(); ++agent) {
      for (std::size_t i = 0; i < all[agent].size(); ++i) {
        const std::uint32_t bits = random_bits({5, agent}, static_cast<std::uint32_t>(i));
        all[agent][i] = centre + static_cast<float>(static_cast<int>(bits % 14) * 2 - 13);
      }
    }
    for (std::size_t block = 0; block < 4; ++block) {
      all[block % 3][block * 64 + 5] = centre - 15;
      all[(block + 1) % 3][block * 64 + 6] = centre + 15;
    }
    const FloatVector sum = decoded_sum(*codec, all, 1);
    for (std::size_t i = 0; i < 192; ++i) {
      ASSERT_NEAR(sum[i], all[0][i] + all[1][i] + all[2][i], 1e-4) << centre << " at " << i;
    }
  }
}

// A block's largest value is far from the others. Without rotation it takes the whole range, or is
// clamped.
TEST(ThcRange, TheRotationPaysForLargeValues) {
  const auto all = codec_testing::updates(Pattern::lognormal, 1u << 16, 4);
  for (const char* const range : {"range=norm", "range=minmax"}) {
    const std::string spec = std::string("thc:") + range;
    EXPECT_GT(nmse(spec + ",rotation=off", all), 3 * nmse(spec, all)) << range;
  }
}

TEST(ThcRange, FromMinToMaxNeedsNoErrorFeedback) {
  for (const char* const spec : {"thc:range=minmax", "thc:range=minmax,rotation=off"}) {
    EXPECT_FALSE(codec_of(spec)->conserves()) << spec;
    EXPECT_FALSE(codec_of(spec)->contracts()) << spec;
  }
  EXPECT_TRUE(codec_of("thc")->conserves());
  EXPECT_TRUE(codec_of("thc:rotation=off")->conserves());
}

TEST(ThcSpec, KnowsWhetherErrorFeedbackConverges) {
  for (const char* const spec : {"thc", "thc:bits=1", "thc:bits=2,levels=uniform", "thc:p=0.5"}) {
    EXPECT_TRUE(codec_of(spec)->contracts()) << spec;
  }
  // One bit over a wide range loses more than its input.
  EXPECT_FALSE(codec_of("thc:bits=1,p=0.01")->contracts());
}

TEST(ThcSpec, RefusesTablesThatCannotBe) {
  EXPECT_EQ(make_codec("thc:bits=4,granularity=14").status().code(), StatusCode::invalid_argument);
  EXPECT_EQ(make_codec("thc:levels=uniform,granularity=30").status().code(),
            StatusCode::invalid_argument);
  EXPECT_EQ(make_codec("thc:p=1e-13").status().code(), StatusCode::invalid_argument);
  EXPECT_EQ(make_codec("thc:granularity=300,down=8").status().code(),
            StatusCode::resource_exhausted);
}

}  // namespace
}  // namespace tributary::thc
