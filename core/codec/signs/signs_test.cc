// Compares the three sign codecs with hand-computed results of their papers' definitions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/codec/codec_testing.h"
#include "core/codec/local_exchange.h"
#include "core/codec/registry.h"

namespace tributary::signs {
namespace {

using testing::ElementsAre;

// The values that every agent decodes after one round without error feedback.
FloatVector played(const std::string& spec, const std::vector<FloatVector>& updates) {
  const std::unique_ptr<Codec> codec = *make_codec(spec);
  const SystemClock clock;
  const auto agents = static_cast<std::uint32_t>(updates.size());
  LocalExchange exchange(*codec, static_cast<std::uint32_t>(updates[0].size()), agents, false,
                         clock);
  const std::vector<std::span<const float>> spans(updates.begin(), updates.end());
  FloatVector sum(updates[0].size());
  const auto traffic = exchange.play({.agents = agents}, {}, spans, sum);
  EXPECT_TRUE(traffic.ok()) << traffic.status().text();
  return sum;
}

TEST(SignSgd, TheMajorityDecidesAndATieMovesNothing) {
  const FloatVector a = {5, -1, 2, -0.0f};
  const FloatVector b = {0.1f, -9, -3, 1};
  EXPECT_THAT(played("signsgd", {a, b}), ElementsAre(2, -2, 0, 0));
  EXPECT_THAT(played("signsgd", {a, b, a}), ElementsAre(3, -3, 3, -3));
  EXPECT_THAT(played("signsgd:scale=0.5", {a, b}), ElementsAre(1, -1, 0, 0));
}

// Numbers of agents next to the limit of 8-bit counts.
TEST(SignSgd, CountsAreWideEnoughForEveryAgent) {
  for (const std::uint32_t agents : {255u, 256u, 300u}) {
    std::vector<FloatVector> updates(agents, FloatVector{-1, 1});
    updates.front() = {1, 1};
    const auto all = static_cast<float>(agents);
    EXPECT_THAT(played("signsgd", updates), ElementsAre(-all, all)) << agents;
  }
}

TEST(EfSignSgd, SignsTimesTheMeanMagnitudeOfTheirBlock) {
  // A complete block with the mean magnitude 2, and a short block with the mean magnitude 2.
  FloatVector x(64 + 4, 1.0f);
  for (std::size_t i = 0; i < 64; i += 2) x[i] = -3;
  x[64] = -8;
  x[65] = x[66] = x[67] = 0;
  const FloatVector got = played("ef_signsgd:block=64", {x});
  for (std::size_t i = 0; i < 64; ++i) ASSERT_EQ(got[i], i % 2 == 0 ? -2.0f : 2.0f) << i;
  EXPECT_THAT(std::span(got).subspan(64), ElementsAre(-2, 2, 2, 2));
}

// Two negative values with the mean 2.5, and 62 positive values.
TEST(OneBit, EachSignIsWorthItsOwnMean) {
  FloatVector x(64, 2.0f);
  x[0] = -1;
  x[1] = -4;
  x[2] = 14;
  const FloatVector got = played("onebit:block=64", {x});
  const auto positive = static_cast<float>((61 * 2.0 + 14) / 62);
  EXPECT_EQ(got[0], -2.5f);
  EXPECT_EQ(got[1], -2.5f);
  for (std::size_t i = 2; i < 64; ++i) ASSERT_EQ(got[i], positive) << i;
}

// The mean of no values must not be NaN.
TEST(OneBit, ABlockOfOneSignAndAnEmptyOne) {
  EXPECT_THAT(played("onebit", {{-1, -3}}), ElementsAre(-2, -2));
  EXPECT_THAT(played("onebit", {{0, 0}}), ElementsAre(0, 0));
  EXPECT_THAT(played("ef_signsgd", {{}}), ElementsAre());
}

// Error feedback converges only if the error is smaller than the update, for all values.
TEST(ScaledSigns, LoseLessThanThereWas) {
  for (const char* const spec : {"ef_signsgd:block=64", "onebit:block=64"}) {
    for (const auto pattern : {codec_testing::Pattern::normal, codec_testing::Pattern::lognormal}) {
      const FloatVector x = codec_testing::update(pattern, 64, 0);
      const FloatVector got = played(spec, {x});
      double lost = 0;
      double was = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        lost += std::pow(static_cast<double>(x[i]) - static_cast<double>(got[i]), 2);
        was += std::pow(static_cast<double>(x[i]), 2);
      }
      EXPECT_LT(lost, was) << spec;
    }
  }
}

}  // namespace
}  // namespace tributary::signs
