// Codecs with random digits: they must be unbiased, and TernGrad must clip.
#include <gtest/gtest.h>

#include <cmath>

#include "core/codec/codec_testing.h"

namespace tributary::threelc {
namespace {

using codec_testing::codec_of;
using codec_testing::Pattern;

// The decoded payload of a single agent, and its M.
struct Decoded {
  FloatVector values;
  float unit = 0;
};

Decoded there_and_back(const Codec& codec, const FloatVector& x, std::uint64_t round,
                       std::uint32_t agent = 0) {
  Bytes payload;
  const StageCall call = {.round = {.job_seed = 9, .round = round, .agent = agent}};
  const auto encoder = codec.make_encoder(static_cast<std::uint32_t>(x.size()));
  EXPECT_TRUE(encoder->encode(call, x, payload).ok());
  Decoded decoded = {.values = FloatVector(x.size())};
  EXPECT_TRUE(codec.decode(call, payload, decoded.values).ok());
  const Result<OpenPayload> open = open_payload({}, payload);
  std::memcpy(&decoded.unit, open->body.data(), sizeof(float));
  return decoded;
}

// A digit is a Bernoulli variable with probability p = |x| / M, so the mean of n rounds has the
// variance M² p (1 - p) / n.
TEST(RandomDigits, TheMeanIsTheValue) {
  constexpr int kRounds = 2000;
  for (const char* spec : {"stoch3", "terngrad:clip=0", "terngrad:clip=10"}) {
    const auto codec = codec_of(spec);
    const FloatVector x = codec_testing::update(Pattern::normal, 300, 0);
    std::vector<double> sum(x.size(), 0.0);
    double unit = 0;
    for (int round = 0; round < kRounds; ++round) {
      const Decoded decoded = there_and_back(*codec, x, static_cast<std::uint64_t>(round));
      unit = static_cast<double>(decoded.unit);
      for (std::size_t i = 0; i < x.size(); ++i) sum[i] += static_cast<double>(decoded.values[i]);
    }
    double chi_squared = 0;
    double degrees = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double value = static_cast<double>(x[i]);
      const double p = std::abs(value) / unit;
      const double variance = unit * unit * p * (1 - p) / kRounds;
      const double error = sum[i] / kRounds - value;
      EXPECT_LE(std::abs(error), 5 * std::sqrt(variance)) << spec << ", value " << i;
      if (p == 1) continue;
      chi_squared += error * error / variance;
      degrees += 1;
    }
    // The errors have the size that chance predicts, neither larger nor smaller.
    EXPECT_NEAR(chi_squared, degrees, 4 * std::sqrt(2 * degrees)) << spec;
  }
}

TEST(RandomDigits, AgentsAndRoundsDrawTheirOwn) {
  const auto codec = codec_of("stoch3");
  const FloatVector x = codec_testing::update(Pattern::normal, 300, 0);
  const FloatVector first = there_and_back(*codec, x, 0, 0).values;
  EXPECT_EQ(there_and_back(*codec, x, 0, 0).values, first);
  EXPECT_NE(there_and_back(*codec, x, 0, 1).values, first);
  EXPECT_NE(there_and_back(*codec, x, 1, 0).values, first);
}

TEST(TernGrad, ClipsAtRootMeanSquares) {
  const FloatVector x = codec_testing::update(Pattern::lognormal, 4000, 0);
  double squares = 0;
  float largest = 0;
  for (const float value : x) {
    squares += static_cast<double>(value) * static_cast<double>(value);
    largest = std::max(largest, std::abs(value));
  }
  const double clip = 2.5 * std::sqrt(squares / static_cast<double>(x.size()));
  ASSERT_LT(clip, static_cast<double>(largest));
  const Decoded clipped = there_and_back(*codec_of("terngrad"), x, 0);
  EXPECT_NEAR(static_cast<double>(clipped.unit), clip, clip * 1e-6);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::abs(x[i]) < clipped.unit) continue;
    EXPECT_EQ(clipped.values[i], std::copysign(clipped.unit, x[i])) << "value " << i;
  }
  EXPECT_EQ(there_and_back(*codec_of("terngrad:clip=0"), x, 0).unit, largest);
}

// The root mean square equals the magnitude, so 2.5 times it is above all values.
TEST(TernGrad, ALayerOfEqualValuesIsNotClipped) {
  const FloatVector x(100, -3.0f);
  EXPECT_EQ(there_and_back(*codec_of("terngrad"), x, 0).values, x);
}

// These codecs have no zero runs: 1.6 and 2 bits per value.
TEST(RandomDigits, SizesDoNotDependOnValues) {
  for (const auto& [spec, bytes] : {std::pair{"stoch3", 200u}, std::pair{"terngrad", 250u}}) {
    for (const Pattern pattern : {Pattern::zeros, Pattern::normal}) {
      const auto codec = codec_of(spec);
      Bytes payload;
      const FloatVector x = codec_testing::update(pattern, 1000, 0);
      ASSERT_TRUE(codec->make_encoder(1000)->encode({.round = {}}, x, payload).ok());
      EXPECT_EQ(open_payload({}, payload)->body.size(), sizeof(float) + bytes) << spec;
    }
  }
}

}  // namespace
}  // namespace tributary::threelc
