// Complete payloads: their bytes, their sizes, their decoded values, and the refusal of bad ones.
#include "core/codec/threelc/ternary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/codec/error_feedback.h"
#include "core/codec/threelc/elements.h"
#include "core/codec/threelc/ternary_testing.h"

namespace tributary::threelc {
namespace {

TEST(Threelc, APayloadByHand) {
  const FloatVector x = {4, -2, 1, 2, -4, 0, 3};
  const auto codec = codec_of("threelc:bypass=0");
  const Bytes payload = encode(*codec, x);
  // M = 4, so values of 2 or more have a digit. One chunk of two bytes, from the stripes (4, -2),
  // (1, 2), (-4, 0), (3, padding) and padding.
  const Bytes expected =
      bytes_made_of(4.0f, std::uint16_t{2}, byte(121 + 81 - 9 + 3), byte(121 - 81 + 27));
  EXPECT_EQ(Bytes(body_of(payload).begin(), body_of(payload).end()), expected);
  EXPECT_EQ(decode(*codec, payload, 7), (FloatVector{4, -4, 0, 4, -4, 0, 4}));
}

TEST(Threelc, ASparserPayloadByHand) {
  FloatVector x(155, 0.0f);  // 31 bytes: one digit, 29 zero bytes, and another digit
  x[0] = 2;
  x[30] = -1.75f;
  x[50] = 1.74f;
  const auto codec = codec_of("threelc:s=1.75,bypass=0,clip=0");
  const Bytes payload = encode(*codec, x);
  const Bytes expected = bytes_made_of(3.5f, std::uint16_t{5}, byte(121 + 81), byte(255), byte(255),
                                       byte(121), byte(121 - 81));
  EXPECT_EQ(Bytes(body_of(payload).begin(), body_of(payload).end()), expected);
  FloatVector decoded(155, 0.0f);
  decoded[0] = 3.5f;
  decoded[30] = -3.5f;
  EXPECT_EQ(decode(*codec, payload, 155), decoded);
}

// 14 bytes of 5 zeros each become one byte, so 280 bytes of float32 become one.
TEST(Threelc, ATensorOfZerosShrinksBy275AndMore) {
  constexpr std::size_t kValues = 4u << 20;
  const FloatVector zeros(kValues, 0.0f);
  for (const char* spec : {"threelc", "threelc:s=1.75"}) {
    const auto codec = codec_of(spec);
    const Bytes payload = encode(*codec, zeros);
    EXPECT_GE(static_cast<double>(kValues * sizeof(float)) / static_cast<double>(payload.size()),
              275.0);
    EXPECT_EQ(decode(*codec, payload, kValues), zeros);
  }
}

// With s = 2 or more, no value would reach M / 2.
TEST(Threelc, SparsityIsBetweenOneAndTwo) {
  for (const char* spec : {"threelc:s=1", "threelc:s=1.999", "threelc:s=1.75"}) {
    EXPECT_TRUE(make_codec(spec).ok()) << spec;
  }
  for (const char* spec : {"threelc:s=0.999", "threelc:s=2", "threelc:s=-1", "threelc:s=nan"}) {
    EXPECT_EQ(make_codec(spec).status().code(), StatusCode::invalid_argument) << spec;
  }
}

// Section 3.1: the error of a value is at most M / 2, which is less than the largest magnitude.
TEST(Threelc, ErrorsAreHalfOfMAtMost) {
  for (const char* spec :
       {"threelc:bypass=0,clip=0", "threelc:s=1.75,clip=0", "threelc:s=1.999,clip=0"}) {
    const auto codec = codec_of(spec);
    for (const Pattern pattern : codec_testing::kPatterns) {
      const FloatVector x = codec_testing::update(pattern, 3000, 0);
      const Bytes payload = encode(*codec, x);
      const FloatVector decoded = decode(*codec, payload, x.size());
      float unit;
      std::memcpy(&unit, body_of(payload).data(), sizeof(unit));
      for (std::size_t i = 0; i < x.size(); ++i) {
        ASSERT_LE(std::abs(static_cast<double>(x[i]) - static_cast<double>(decoded[i])),
                  static_cast<double>(unit) / 2)
            << spec << ", value " << i << ", pattern " << static_cast<int>(pattern);
      }
    }
  }
}

TEST(Threelc, CuttingIntoChunksCostsAThousandthAtMost) {
  constexpr std::size_t kValues = 900'000;
  const Kernels& loops = simd_kernels();
  const auto codec = codec_of("threelc:clip=0");
  const StreamKey key = stream_key({.purpose = DrawPurpose::synthetic_data});
  for (const std::uint32_t one_in : {kBucketValuesMax, 50'000u, 400u, 20u, 3u}) {
    FloatVector x(kValues, 0.0f);
    x[0] = 1;
    for (std::size_t i = 0; i < kValues; ++i) {
      if (random_bits(key, static_cast<std::uint32_t>(i)) % one_in == 0) x[i] = 1;
    }
    const PackedRange all = {.count = kValues, .begin = 0, .end = Quartic::bytes(kValues)};
    Bytes packed(all.end);
    Bytes uncut(all.end);
    loops.pack_nearest(x.data(), all, nearest_level(1.0f), packed.data());
    // The size of the same digits if zero runs were coded over the whole part.
    const std::size_t bytes_uncut =
        sizeof(float) + loops.zero_run_encode(packed.data(), packed.size(), uncut.data());
    const Bytes payload = encode(*codec, x);
    EXPECT_LE(static_cast<double>(body_of(payload).size()),
              static_cast<double>(bytes_uncut) * 1.001 + 3)  // a single chunk also has a length
        << "one value in " << one_in;
  }
}

TEST(Threelc, WithoutZeroRunsAllBucketsTakeTheSame) {
  const auto codec = codec_of("threelc:zero_run=off");
  for (const Pattern pattern : {Pattern::zeros, Pattern::normal}) {
    const Bytes payload = encode(*codec, codec_testing::update(pattern, 300'001, 0));
    EXPECT_EQ(body_of(payload).size(), sizeof(float) + 60'001);
  }
}

TEST(Threelc, AddingWhileDecodingIsDecodingAndAdding) {
  for (const char* spec : {"threelc:bypass=30", "threelc:s=1.75,bypass=30",
                           "threelc:bypass=30,block=70", "stoch3", "terngrad"}) {
    const auto codec = codec_of(spec);
    const RoundContext round = {.layers = kLayers};
    const Bytes payload = encode(*codec, layered_update(), round);
    const FloatVector start = codec_testing::update(Pattern::normal, kLayeredValues, 1);
    FloatVector expected = start;
    add_values(decode(*codec, payload, kLayeredValues, round), expected);
    FloatVector sum = start;
    ASSERT_TRUE(codec->decode_add({.round = round}, payload, {}, sum).ok());
    EXPECT_EQ(sum, expected) << spec;
    // The general rule for all codecs, for which this codec has a faster implementation.
    FloatVector scratch(kLayeredValues);
    sum = start;
    ASSERT_TRUE(codec->Codec::decode_add({.round = round}, payload, scratch, sum).ok());
    EXPECT_EQ(sum, expected) << spec;
  }
}

TEST(Threelc, BadBodiesAreRefusedAndLeaveTheSumAlone) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  struct Case {
    const char* what;
    const char* spec;
    Bytes body;
    StatusCode code = StatusCode::corrupt_data;
  };
  constexpr StatusCode kNumber = StatusCode::not_finite;
  constexpr std::uint32_t kValues = 9;  // two quartic bytes, three of two bits
  const Case cases[] = {
      {"empty", "threelc:bypass=0", {}},
      {"M only", "threelc:bypass=0", bytes_made_of(1.0f)},
      {"M negative", "threelc:bypass=0", bytes_made_of(-1.0f, std::uint16_t{1}, byte(243)),
       kNumber},
      {"M negative zero", "threelc:bypass=0", bytes_made_of(-0.0f, std::uint16_t{1}, byte(243)),
       kNumber},
      {"M infinite", "threelc:bypass=0", bytes_made_of(kInf, std::uint16_t{1}, byte(243)), kNumber},
      {"M no number", "threelc:bypass=0", bytes_made_of(kNan, std::uint16_t{1}, byte(243)),
       kNumber},
      {"run too long", "threelc:bypass=0", bytes_made_of(1.0f, std::uint16_t{1}, byte(244))},
      {"run too short", "threelc:bypass=0", bytes_made_of(1.0f, std::uint16_t{1}, byte(121))},
      {"length too large", "threelc:bypass=0", bytes_made_of(1.0f, std::uint16_t{9}, byte(243))},
      {"length too small", "threelc:bypass=0",
       bytes_made_of(1.0f, std::uint16_t{1}, byte(121), byte(121))},
      {"no digits", "threelc:bypass=0,zero_run=off", bytes_made_of(1.0f)},
      {"digit of a run", "threelc:bypass=0,zero_run=off", bytes_made_of(1.0f, byte(0), byte(243))},
      {"a byte too many", "stoch3", bytes_made_of(1.0f, byte(0), byte(0), byte(0))},
      {"a fourth digit", "terngrad", bytes_made_of(1.0f, byte(0), byte(0), byte(0b00'11'00'00))},
      {"not finite", "threelc", bytes_made_of(1.f, 2.f, 3.f, 4.f, kNan, 6.f, 7.f, 8.f, 9.f),
       kNumber},
      {"a value too few", "threelc", bytes_made_of(1.f, 2.f, 3.f, 4.f, 5.f, 6.f, 7.f, 8.f)},
  };
  for (const Case& bad : cases) {
    const auto codec = codec_of(bad.spec);
    const Bytes payload = payload_with(*codec, kValues, bad.body);
    for (const Backend backend : {Backend::scalar, Backend::simd}) {
      const StageCall call = {.round = {}, .execution = {.backend = backend}};
      FloatVector sum(kValues, 5.0f);
      EXPECT_EQ(codec->decode(call, payload, sum).code(), bad.code) << bad.what;
      sum.assign(kValues, 5.0f);
      EXPECT_EQ(codec->decode_add(call, payload, {}, sum).code(), bad.code);
      EXPECT_EQ(sum, FloatVector(kValues, 5.0f)) << bad.what;
    }
  }
}

// A hostile byte may have digits in its padding; they must not be written after the last value.
TEST(Threelc, PaddingDecodesToNothing) {
  const auto codec = codec_of("threelc:bypass=0,zero_run=off");
  const Bytes payload = payload_with(*codec, 1, bytes_made_of(2.0f, byte(242)));
  FloatVector out = {7, 8};
  EXPECT_TRUE(codec->decode({.round = {}}, payload, std::span(out).first(1)).ok());
  EXPECT_EQ(out, (FloatVector{2, 8}));
}

// With dyadic updates no float operation rounds, so the balance must be exact.
TEST(Threelc, NothingIsLostInCompressedPushesAndPulls) {
  constexpr std::uint32_t kAgents = 3;
  constexpr std::uint32_t kRounds = 12;
  constexpr std::uint32_t kValues = 2000;
  const SystemClock clock;
  for (const char* spec : {"threelc:clip=0", "threelc:s=1.5,clip=0", "threelc:s=1.75,clip=0"}) {
    const auto codec = codec_of(spec);
    const auto all = codec_testing::updates(Pattern::integers, kValues, kAgents);
    LocalExchange exchange(*codec, kValues, kAgents, true, clock);
    std::vector<double> account(kValues, 0.0);
    FloatVector sum(kValues);
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      ASSERT_TRUE(exchange.play({.round = round}, {}, codec_testing::spans(all), sum).ok());
      // The combined payload has one M as well: every decoded value is 0 or the aggregator's M.
      float unit = 0;
      for (const float value : sum) unit = std::max(unit, std::abs(value));
      for (std::size_t i = 0; i < kValues; ++i) {
        ASSERT_TRUE(sum[i] == 0 || std::abs(sum[i]) == unit) << sum[i];
        account[i] += static_cast<double>(sum[i]);
      }
      EXPECT_EQ(decode(*codec, exchange.combined().back(), kValues), sum);
    }
    for (std::size_t i = 0; i < kValues; ++i) {
      double truth = 0;
      for (std::uint32_t agent = 0; agent < kAgents; ++agent) {
        truth += kRounds * static_cast<double>(all[agent][i]);
        account[i] += static_cast<double>(exchange.residual(agent)[i]);
      }
      account[i] += static_cast<double>(exchange.aggregator_residual()[i]);
      ASSERT_EQ(account[i], truth) << spec << ", value " << i;
    }
  }
}

}  // namespace
}  // namespace tributary::threelc
