// THC with a rate that the blocks of a bucket share.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/codec/codec_testing.h"
#include "core/codec/thc/body.h"

namespace tributary::thc {
namespace {

using codec_testing::codec_of;
using codec_testing::Pattern;
using codec_testing::Round;
using codec_testing::spans;

constexpr std::size_t kRatedBlock = 256;

// Blocks of normal values whose deviations span three orders of magnitude.
std::vector<FloatVector> uneven_updates(std::size_t values, std::uint32_t agents) {
  std::vector<FloatVector> all = codec_testing::updates(Pattern::normal, values, agents);
  for (FloatVector& update : all) {
    for (std::size_t i = 0; i < values; ++i) {
      update[i] *= std::ldexp(1.0f, -static_cast<int>(i / kRatedBlock * 7 % 11));
    }
  }
  return all;
}

double squared_error(const Codec& codec, const std::vector<FloatVector>& all) {
  const SystemClock clock;
  const auto values = static_cast<std::uint32_t>(all[0].size());
  LocalExchange exchange(codec, values, static_cast<std::uint32_t>(all.size()), false, clock);
  FloatVector sum(values);
  const auto traffic = exchange.play({.round = 3}, {}, spans(all), sum);
  EXPECT_TRUE(traffic.ok()) << traffic.status().text();
  double error = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    double off = static_cast<double>(sum[i]);
    for (const FloatVector& update : all) off -= static_cast<double>(update[i]);
    error += off * off;
  }
  return error;
}

std::size_t body_bytes(const Bytes& payload) {
  const Result<OpenPayload> open = open_payload({}, payload);
  EXPECT_TRUE(open.ok()) << open.status().text();
  return open.ok() ? open->body.size() : 0;
}

TEST(ThcRate, SendsNoMoreBytesAndLosesLessThanOneWidth) {
  constexpr std::size_t kValues = 40 * kRatedBlock;
  const auto all = uneven_updates(kValues, 4);
  for (const char* const width : {"1", "2", "3", "4"}) {
    const auto rated = codec_of(std::string("thc:rate=") + width);
    const auto fixed = codec_of(std::string("thc:bits=") + width);
    Round rated_round(*rated, all, 4);
    Round fixed_round(*fixed, all, 4);
    EXPECT_LE(body_bytes(rated_round.payload(1, 0)), body_bytes(fixed_round.payload(1, 0)));
    EXPECT_GT(body_bytes(rated_round.payload(1, 0)),
              0.9 * static_cast<double>(body_bytes(fixed_round.payload(1, 0))));
    EXPECT_LT(body_bytes(rated_round.combined(1)), body_bytes(fixed_round.combined(1)));
    EXPECT_LT(squared_error(*rated, all), 0.5 * squared_error(*fixed, all)) << width << " bits";
  }
}

// Blocks of equal norms and a whole rate: as one width, except for the order of ties.
TEST(ThcRate, IsNearOneWidthForEqualBlocks) {
  const auto all = codec_testing::updates(Pattern::normal, 64 * 1024, 4);
  const double rated = squared_error(*codec_of("thc:rate=4,down_weight=0"), all);
  EXPECT_NEAR(rated / squared_error(*codec_of("thc"), all), 1, 0.1);
}

TEST(ThcRate, FollowsTheRateInSmallSteps) {
  const auto all = uneven_updates(200 * kRatedBlock, 3);
  std::size_t before = 0;
  for (const char* const rate : {"0.25", "0.5", "0.75", "1", "1.5", "2", "2.75", "4", "6", "8"}) {
    const auto codec = codec_of(std::string("thc:rate=") + rate);
    Round round(*codec, all, 3);
    const std::size_t bytes = body_bytes(round.payload(1, 0));
    const double bits = static_cast<double>((bytes - kStampBytes) * 8) / (200.0 * kRatedBlock);
    EXPECT_LE(bits, std::stod(rate));
    EXPECT_NEAR(bits, std::stod(rate), 0.011);
    EXPECT_GT(bytes, before);
    before = bytes;
  }
}

// A block without bits keeps its values in the residuals, and zeros arrive.
TEST(ThcRate, ABlockOfNoBitsStaysInTheResidual) {
  const auto codec = codec_of("thc:rate=1");
  const std::vector<FloatVector> all = {codec_testing::update(Pattern::normal, 512, 0),
                                        codec_testing::update(Pattern::normal, 512, 1)};
  std::vector<FloatVector> scaled = all;
  for (FloatVector& update : scaled) {
    std::for_each(update.begin(), update.begin() + 256, [](float& x) { x *= 0x1p-20f; });
  }
  const SystemClock clock;
  LocalExchange exchange(*codec, 512, 2, true, clock);
  FloatVector sum(512);
  ASSERT_TRUE(exchange.play({}, {}, spans(scaled), sum).ok());
  for (std::size_t i = 0; i < 256; ++i) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(sum[i]), 0u);
    ASSERT_EQ(exchange.residual(0)[i], scaled[0][i]);
    ASSERT_EQ(exchange.residual(1)[i], scaled[1][i]);
  }
  EXPECT_NE(sum[300], 0);
}

// The residual of a block that waits grows by its update in each round, and those of the others
// stay in proportion to their updates. A block whose update is 2^-k of the largest is therefore
// served within about 2^k rounds, and no residual diverges.
TEST(ThcRate, EveryBlockIsSentInBoundedTime) {
  constexpr std::size_t kBlocks = 12;
  constexpr std::size_t kValues = kBlocks * kRatedBlock;
  constexpr int kRange = 5;  // updates from 1 to 2^-kRange
  constexpr std::uint32_t kRounds = 400;
  for (const char* const spec : {"thc:rate=0.25", "thc:rate=0.5", "thc:rate=2"}) {
    const auto codec = codec_of(spec);
    ASSERT_TRUE(codec->contracts());
    std::vector<FloatVector> all = codec_testing::updates(Pattern::normal, kValues, 2);
    for (FloatVector& update : all) {
      for (std::size_t i = 0; i < kValues; ++i) {
        update[i] *= std::ldexp(1.0f, -static_cast<int>(i / kRatedBlock % (kRange + 1)));
      }
    }
    const SystemClock clock;
    LocalExchange exchange(*codec, kValues, 2, true, clock);
    FloatVector sum(kValues);
    std::vector<std::uint32_t> waited(kBlocks, 0);
    std::uint32_t longest = 0;
    double largest_residual = 0;
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      ASSERT_TRUE(exchange.play({.round = round}, {}, spans(all), sum).ok());
      for (std::size_t block = 0; block < kBlocks; ++block) {
        const auto begin = sum.begin() + static_cast<std::ptrdiff_t>(block * kRatedBlock);
        const bool served = std::any_of(begin, begin + kRatedBlock, [](float x) { return x != 0; });
        waited[block] = served ? 0 : waited[block] + 1;
        longest = std::max(longest, waited[block]);
      }
      for (const float x : exchange.residual(0)) {
        largest_residual = std::max(largest_residual, std::abs(static_cast<double>(x)));
      }
    }
    EXPECT_LT(longest, 12u << kRange) << spec;
    EXPECT_LT(largest_residual, 100) << spec;
  }
}

TEST(ThcRate, ZerosAreAStampAlone) {
  const auto codec = codec_of("thc:rate=2");
  Round round(*codec, std::vector<FloatVector>(2, FloatVector(5000, 0.0f)), 2);
  EXPECT_EQ(body_bytes(round.payload(1, 0)), kStampBytes);
  EXPECT_EQ(body_bytes(round.combined(1)), kStampBytes);
  FloatVector sum(5000, 1.0f);
  ASSERT_TRUE(codec->decode(round.call(1), round.combined(1), sum).ok());
  EXPECT_TRUE(std::ranges::all_of(sum, [](float x) { return x == 0; }));
}

// Levels of other widths cannot be added, even if the payload is as long.
TEST(ThcRate, PayloadsOfOtherNormsAreRefused) {
  const auto codec = codec_of("thc:rate=2");
  const auto all = uneven_updates(2560, 2);
  std::vector<FloatVector> turned = all;
  for (FloatVector& update : turned)
    std::rotate(update.begin(), update.begin() + 512, update.end());
  Round here(*codec, all, 2);
  Round there(*codec, turned, 2);
  const auto aggregator = codec->make_aggregator(1, 2560);
  ASSERT_TRUE(aggregator->begin(here.call(1), {}).ok());
  const Status refused = aggregator->add(here.call(1), there.payload(1, 0));
  EXPECT_EQ(refused.code(), StatusCode::mismatch) << refused.text();
  FloatVector sum(2560);
  EXPECT_EQ(codec->decode(here.call(1), there.combined(1), sum).code(), StatusCode::mismatch);
}

TEST(ThcRate, RefusesOptionsThatItReplaces) {
  for (const char* const other : {"bits=3", "granularity=30", "p=0.01", "levels=uniform",
                                  "rotation=off", "range=minmax", "down=8"}) {
    const Status status = make_codec(std::string("thc:rate=2,") + other).status();
    EXPECT_EQ(status.code(), StatusCode::invalid_argument) << other;
    EXPECT_NE(status.text().find("rate"), std::string::npos) << status.text();
  }
  EXPECT_EQ(make_codec("thc:rate=0.2").status().code(), StatusCode::invalid_argument);
  EXPECT_EQ(make_codec("thc:rate=8.5").status().code(), StatusCode::invalid_argument);
}

}  // namespace
}  // namespace tributary::thc
