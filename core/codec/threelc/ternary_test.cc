// Complete payloads: their bytes, their sizes, their decoded values, and the refusal of bad ones.
#include "core/codec/threelc/ternary.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/bytes/checksum.h"
#include "core/codec/codec_testing.h"
#include "core/codec/error_feedback.h"
#include "core/codec/threelc/elements.h"

namespace tributary::threelc {
namespace {

using codec_testing::codec_of;
using codec_testing::Pattern;

Bytes encode(const Codec& codec, std::span<const float> values, const RoundContext& round = {},
             const Execution& execution = {}) {
  Bytes payload;
  const auto encoder = codec.make_encoder(static_cast<std::uint32_t>(values.size()));
  const Status status = encoder->encode({.round = round, .execution = execution}, values, payload);
  EXPECT_TRUE(status.ok()) << status.text();
  return payload;
}

ByteSpan body_of(const Bytes& payload) {
  const Result<OpenPayload> open = open_payload({}, payload);
  EXPECT_TRUE(open.ok());
  return open.ok() ? open->body : ByteSpan();
}

FloatVector decode(const Codec& codec, const Bytes& payload, std::size_t values,
                   const RoundContext& round = {}) {
  FloatVector out(values);
  const Status status = codec.decode({.round = round}, payload, out);
  EXPECT_TRUE(status.ok()) << status.text();
  return out;
}

// A body with a valid header.
Bytes payload_with(const Codec& codec, std::uint32_t values, ByteSpan body) {
  Bytes payload;
  const MutableByteSpan out =
      start_payload({.spec = codec.spec(), .values = values}, body.size(), payload);
  std::ranges::copy(body, out.begin());
  seal_payload({}, payload);
  return payload;
}

// Numbers of any type one after the other, little-endian.
template <typename... Numbers>
Bytes bytes_made_of(Numbers... numbers) {
  Bytes out;
  ByteWriter writer(out);
  (ignore_error(writer.write(numbers)), ...);
  return out;
}

template <typename Number>
std::uint8_t byte(Number number) {
  return static_cast<std::uint8_t>(number);
}

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

// Layers of 100, 5, 1000 and 20 values; the second and fourth are below the threshold.
constexpr LayerRun kLayers[] = {{.offset = 0, .count = 100, .rows = 10},
                                {.offset = 100, .count = 5},
                                {.offset = 105, .count = 1000, .rows = 20},
                                {.offset = 1105, .count = 20}};
constexpr std::size_t kLayeredValues = 1125;

FloatVector layered_update() {
  FloatVector x = codec_testing::update(Pattern::lognormal, kLayeredValues, 0);
  for (std::size_t i = 105; i < 1105; ++i) x[i] *= 1000.0f;  // a common M would be detected
  return x;
}

TEST(Threelc, EveryLayerHasItsOwnMAndSmallOnesTravelAsTheyAre) {
  const auto codec = codec_of("threelc:s=1.5,bypass=30");
  const FloatVector x = layered_update();
  const RoundContext round = {.layers = kLayers};
  const FloatVector decoded = decode(*codec, encode(*codec, x, round), x.size(), round);
  const auto part = [](const FloatVector& all, std::size_t begin, std::size_t end) {
    return FloatVector(all.begin() + static_cast<std::ptrdiff_t>(begin),
                       all.begin() + static_cast<std::ptrdiff_t>(end));
  };
  EXPECT_EQ(part(decoded, 100, 105), part(x, 100, 105));
  EXPECT_EQ(part(decoded, 1105, 1125), part(x, 1105, 1125));
  for (const auto& [begin, end] : {std::pair{0u, 100u}, std::pair{105u, 1105u}}) {
    const FloatVector layer = part(x, begin, end);
    EXPECT_EQ(part(decoded, begin, end), decode(*codec, encode(*codec, layer), layer.size()))
        << "a layer in a bucket is not what it is alone";
  }
}

TEST(Threelc, EveryBlockOfALayerHasItsOwnM) {
  const auto codec = codec_of("threelc:s=1.5,bypass=30,block=64");
  const FloatVector x = layered_update();
  const RoundContext round = {.layers = kLayers};
  const FloatVector decoded = decode(*codec, encode(*codec, x, round), x.size(), round);
  const auto whole = codec_of("threelc:s=1.5,bypass=0");
  for (const LayerRun& layer : kLayers) {
    for (std::size_t begin = 0; begin < layer.count; begin += 64) {
      const std::size_t count = std::min<std::size_t>(64, layer.count - begin);
      const auto at = static_cast<std::ptrdiff_t>(layer.offset + begin);
      const FloatVector block(x.begin() + at, x.begin() + at + static_cast<std::ptrdiff_t>(count));
      const FloatVector expected =
          layer.count < 30 ? block : decode(*whole, encode(*whole, block), block.size());
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), decoded.begin() + at))
          << "block at value " << at;
    }
  }
}

// One value far above the others delays only the values of its own block.
TEST(Threelc, AnOutlierKeepsOnlyItsOwnBlockWaiting) {
  FloatVector x(1000, 0.01f);
  x[500] = 1;
  const auto sent = [&](const char* spec) {
    const auto codec = codec_of(spec);
    return std::ranges::count_if(decode(*codec, encode(*codec, x), x.size()),
                                 [](float value) { return value != 0; });
  };
  EXPECT_EQ(sent("threelc:s=1.75,clip=0"), 1);
  EXPECT_EQ(sent("threelc:s=1.75,clip=0,block=100"), 901);
}

TEST(Threelc, ABlockIsNoneOrOf64ValuesAndMore) {
  for (const char* spec : {"threelc:block=0", "threelc:block=64", "threelc:block=1048576"}) {
    EXPECT_TRUE(make_codec(spec).ok()) << spec;
  }
  for (const char* spec : {"threelc:block=1", "threelc:block=63", "threelc:block=1048577"}) {
    EXPECT_EQ(make_codec(spec).status().code(), StatusCode::invalid_argument) << spec;
  }
}

TEST(Threelc, ABucketWithoutLayersIsOne) {
  const FloatVector x = codec_testing::update(Pattern::normal, 29, 0);
  const auto codec = codec_of("threelc:bypass=30");
  EXPECT_EQ(decode(*codec, encode(*codec, x), x.size()), x);
  const LayerRun all[] = {{.offset = 0, .count = 1000}};
  const FloatVector y = codec_testing::update(Pattern::normal, 1000, 0);
  EXPECT_EQ(encode(*codec, y), encode(*codec, y, {.layers = all}));
}

TEST(Threelc, LayersThatAreNotTheBucketsAreRefused) {
  const auto codec = codec_of("threelc");
  const auto encoder = codec->make_encoder(1000);
  const FloatVector x(1000, 1.0f);
  const LayerRun gap[] = {{.offset = 0, .count = 400}, {.offset = 500, .count = 500}};
  const LayerRun short_of_it[] = {{.offset = 0, .count = 400}, {.offset = 400, .count = 599}};
  const LayerRun beyond[] = {{.offset = 0, .count = 1001}};
  for (const auto& layers : {std::span<const LayerRun>(gap), std::span<const LayerRun>(short_of_it),
                             std::span<const LayerRun>(beyond)}) {
    Bytes payload;
    EXPECT_EQ(encoder->encode({.round = {.layers = layers}}, x, payload).code(),
              StatusCode::invalid_argument);
  }
}

// Layers of several chunks between layers that are not packed.
TEST(Threelc, BackendsAndThreadsAgreeOnLayers) {
  std::vector<LayerRun> layers;
  std::uint32_t end = 0;
  for (const std::uint32_t count : {7u, 300'000u, 255u, 256u, 4000u, 1u, 290'000u}) {
    layers.push_back({.offset = end, .count = count});
    end += count;
  }
  const FloatVector x = codec_testing::update(Pattern::lognormal, end, 0);
  ThreadPool pool(3);
  for (const char* spec : {"threelc:s=1.2", "threelc:bypass=0,zero_run=off",
                           "threelc:s=1.75,block=100", "stoch3", "terngrad"}) {
    const auto codec = codec_of(spec);
    const RoundContext round = {.layers = layers};
    const Bytes expected = encode(*codec, x, round, {.backend = Backend::scalar});
    EXPECT_EQ(encode(*codec, x, round), expected) << spec;
    EXPECT_EQ(encode(*codec, x, round, {.pool = &pool}), expected) << spec;
    FloatVector threaded(x.size());
    EXPECT_TRUE(
        codec->decode({.round = round, .execution = {.pool = &pool}}, expected, threaded).ok());
    EXPECT_EQ(threaded, decode(*codec, expected, x.size(), round)) << spec;
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

// Three values of four are 0, one of four is 1, and one value is 40 times as large.
FloatVector update_with_an_outlier() {
  FloatVector x(1000, 0.0f);
  for (std::size_t i = 0; i < x.size(); i += 4) x[i] = i % 8 == 0 ? 1.0f : -1.0f;
  x[500] = 40;
  return x;
}

TEST(Threelc, AnOutlierDoesNotKeepTheOthersWaiting) {
  const FloatVector x = update_with_an_outlier();  // root mean square 1.36
  const auto sent = [&](const char* spec) {
    const auto codec = codec_of(spec);
    return std::ranges::count_if(decode(*codec, encode(*codec, x), x.size()),
                                 [](float value) { return value != 0; });
  };
  EXPECT_EQ(sent("threelc:clip=0"), 1);
  EXPECT_EQ(sent("threelc:s=1.75,clip=0"), 1);
  EXPECT_EQ(sent("threelc:clip=1"), 250);
}

TEST(Threelc, ByDefaultMIsAtMostSTimesTwoAndAHalfRootMeanSquares) {
  const FloatVector x = update_with_an_outlier();
  for (const auto& [spec, s] : {std::pair{"threelc", 1.0}, std::pair{"threelc:s=1.75", 1.75}}) {
    const auto codec = codec_of(spec);
    EXPECT_EQ(codec->spec(), spec) << "without the clip that is the default";
    float unit;
    std::memcpy(&unit, body_of(encode(*codec, x)).data(), sizeof(unit));
    EXPECT_FLOAT_EQ(unit, static_cast<float>(s * 2.5 * std::sqrt((249.0 + 1600.0) / 1000.0)));
  }
  // The limit is above the largest of values of one magnitude.
  const FloatVector even(1000, 0.5f);
  EXPECT_EQ(decode(*codec_of("threelc"), encode(*codec_of("threelc"), even), 1000), even);
}

// With error feedback in both directions, s = 1.75 and log-normal values. By the paper's M most of
// them wait for longer than the test.
TEST(Threelc, AnUpdateWithLargeValuesArrivesSoonerThanByThePapersM) {
  constexpr std::uint32_t kAgents = 2;
  constexpr std::uint32_t kRounds = 20;
  constexpr std::uint32_t kValues = 20'000;
  const SystemClock clock;
  const auto all = codec_testing::updates(Pattern::lognormal, kValues, kAgents);
  const auto error_of = [&](const char* spec) {
    const auto codec = codec_of(spec);
    LocalExchange exchange(*codec, kValues, kAgents, true, clock);
    FloatVector sum(kValues);
    std::vector<double> account(kValues, 0.0);
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      EXPECT_TRUE(exchange.play({.round = round}, {}, codec_testing::spans(all), sum).ok());
      for (std::size_t i = 0; i < kValues; ++i) account[i] += static_cast<double>(sum[i]);
    }
    double error = 0;
    double size = 0;
    for (std::size_t i = 0; i < kValues; ++i) {
      const double truth =
          kRounds * (static_cast<double>(all[0][i]) + static_cast<double>(all[1][i]));
      error += (account[i] - truth) * (account[i] - truth);
      size += truth * truth;
    }
    return error / size;
  };
  const double by_default = error_of("threelc:s=1.75");
  const double of_the_paper = error_of("threelc:s=1.75,clip=0");
  EXPECT_LT(by_default, of_the_paper / 2) << of_the_paper;
}

// Payloads in journals and of other versions state their M, so that a decoder does not need `clip`.
TEST(Threelc, APayloadDecodesWithoutTheClipOfItsEncoder) {
  const FloatVector x = layered_update();
  const RoundContext round = {.layers = kLayers};
  for (const auto& [encoder, decoder] : {std::pair{"threelc:clip=0", "threelc"},
                                         std::pair{"threelc:s=1.75", "threelc:s=1.75,clip=0"}}) {
    const auto from = codec_of(encoder);
    const auto to = codec_of(decoder);
    const Bytes payload = encode(*from, x, round);
    const Bytes other = payload_with(*to, kLayeredValues, body_of(payload));
    EXPECT_EQ(decode(*to, other, x.size(), round), decode(*from, payload, x.size(), round));
  }
}

FloatVector golden_update() {
  FloatVector x = codec_testing::update(Pattern::integers, kLayeredValues, 0);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] *= i % 29 == 0 ? 3.0f : 0.5f;
  return x;
}

// The bytes of the format. A change of them changes the meaning of stored payloads.
TEST(Threelc, Golden) {
  const std::pair<const char*, std::uint64_t> cases[] = {
      {"threelc:clip=0", 0x9501ade7d922321a},
      {"threelc:s=1.75,bypass=30,clip=0", 0xb1d767c42edc3ed5},
      {"threelc:zero_run=off,bypass=0,clip=0", 0xb8f3d71b17e5e628},
      {"threelc:s=1.75,bypass=30,block=100,clip=0", 0x15c61dbed623bf6e},
      {"threelc", 0xd16ce795c44937d6},
      {"threelc:s=1.75,bypass=30", 0x2cf03a2f78735ca5},
      {"stoch3", 0xe71fc6d8c66eb1b1},
      {"terngrad", 0x2893ae3c80325557},
      {"terngrad:clip=0", 0xced186eeae95caf9},
  };
  const FloatVector x = golden_update();
  for (const auto& [spec, expected] : cases) {
    const Bytes payload =
        encode(*codec_of(spec), x, {.job_seed = 1, .round = 2, .agent = 3, .layers = kLayers});
    EXPECT_EQ(hash64(payload), expected) << spec << fmt::format(" {:#018x}", hash64(payload));
  }
}

// Before `clip` existed, all specs without it meant what `clip=0` means now. The hashes are from
// that time.
TEST(Threelc, GoldenPayloadsOfThePapersForm) {
  const std::tuple<const char*, const char*, std::uint64_t> cases[] = {
      {"threelc", "threelc:clip=0", 0x918bb82f1f2a00c4},
      {"threelc:s=1.75,bypass=30", "threelc:s=1.75,bypass=30,clip=0", 0xb3153922901d1893},
      {"threelc:zero_run=off,bypass=0", "threelc:zero_run=off,bypass=0,clip=0", 0x1482dc49168bdf6a},
      {"threelc:s=1.75,bypass=30,block=100", "threelc:s=1.75,bypass=30,block=100,clip=0",
       0x3065a3edc1701ffc},
  };
  const FloatVector x = golden_update();
  const RoundContext round = {.job_seed = 1, .round = 2, .agent = 3, .layers = kLayers};
  for (const auto& [then, now, expected] : cases) {
    const auto codec = codec_of(now);
    const Bytes payload = encode(*codec, x, round);
    const Bytes stored = payload_with(*codec_of(then), kLayeredValues, body_of(payload));
    EXPECT_EQ(hash64(stored), expected) << then;
    EXPECT_EQ(decode(*codec_of(then), stored, x.size(), round),
              decode(*codec, payload, x.size(), round))
        << then;
  }
}

}  // namespace
}  // namespace tributary::threelc
