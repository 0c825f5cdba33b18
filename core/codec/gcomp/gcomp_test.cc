// Tests of GComp over rounds: codebooks that follow the histogram, truncation by the optimizer's
// view, and golden payloads.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "core/base/bytes/checksum.h"
#include "core/base/random.h"
#include "core/codec/chunks.h"
#include "core/codec/codec_testing.h"
#include "core/codec/gcomp/codebook.h"
#include "core/codec/optimizer_view.h"

namespace tributary::gcomp {
namespace {

using codec_testing::codec_of;
using codec_testing::Pattern;
using codec_testing::update;

// One encoder over several rounds, with a new codebook every 10 rounds.
class GComp : public testing::Test {
 protected:
  static constexpr std::uint32_t kValues = 3000;

  explicit GComp(const std::string& spec = "gcomp:truncation=metric,rebuild=10")
      : codec(codec_of(spec)), encoder(codec->make_encoder(kValues)) {}

  Bytes encode(std::uint64_t round, const FloatVector& values,
               const OptimizerView* optimizer = nullptr) {
    Bytes payload;
    const Status status = encoder->encode(
        {.round = {.round = round}, .execution = {}, .combined = {}, .optimizer = optimizer},
        values, payload);
    EXPECT_TRUE(status.ok()) << status.text();
    return payload;
  }
  static Codebook codebook_in(const Bytes& payload) {
    const Result<OpenPayload> open = open_payload({}, payload);
    EXPECT_TRUE(open.ok());
    Result<Codebook> book = read_codebook(open->body, kCodeBitsMax);
    EXPECT_TRUE(book.ok()) << book.status().text();
    return *book;
  }
  FloatVector decode(const Bytes& payload) const {
    FloatVector values(kValues);
    const Status status = codec->decode({.round = {}}, payload, values);
    EXPECT_TRUE(status.ok()) << status.text();
    return values;
  }

  std::unique_ptr<Codec> codec;
  std::unique_ptr<Encoder> encoder;
};

// Round 5 is the first, so it makes a codebook at once. Later codebooks are used one round after
// their histogram.
TEST_F(GComp, RebuildsItsCodebookForTheRoundAfterTheHistogram) {
  const FloatVector values = update(Pattern::normal, kValues, 0);
  for (std::uint64_t round = 5; round < 50; ++round) {
    const std::uint64_t expected = round == 5 ? 0 : (round - 6) / 10;
    EXPECT_EQ(codebook_in(encode(round, values)).version, expected) << round;
    if (round % 2 == 0) encoder->settle({}, true);  // calling it or not must make no difference
  }
}

// The exponents change completely after round 0. The codebook is replaced five rounds later,
// although it could be used for ten.
TEST_F(GComp, ReplacesACodebookThatDoesNotFitBeforeItsTime) {
  const FloatVector before = update(Pattern::normal, kValues, 0);
  const FloatVector after = update(Pattern::tiny, kValues, 0);
  const std::size_t fitting = encode(0, before).size();
  EXPECT_GT(encode(1, after).size(), fitting);
  encode(6, after);
  EXPECT_NEAR(static_cast<double>(encode(7, after).size()), static_cast<double>(fitting), 16);
}

// A payload contains its codebook, so an old one decodes after newer ones.
TEST_F(GComp, EveryPayloadDecodesByItself) {
  const Bytes first = encode(0, update(Pattern::normal, kValues, 0));
  const FloatVector other = update(Pattern::lognormal, kValues, 1);
  encode(11, other);
  const Bytes last = encode(12, other);
  EXPECT_EQ(decode(last), other);
  EXPECT_EQ(decode(first), update(Pattern::normal, kValues, 0));
}

TEST_F(GComp, WithoutAViewNothingIsTruncated) {
  const FloatVector values = update(Pattern::normal, kValues, 0);
  EXPECT_EQ(decode(encode(0, values)), values);
}

TEST_F(GComp, PrunesDenormalsAndTheSignOfZero) {
  FloatVector values = update(Pattern::normal, kValues, 0);
  // A denormal and a negative zero both have exponent 0.
  values[5] = 0x1p-140f;
  values[6] = -0.0f;
  const FloatVector decoded = decode(encode(0, values));
  EXPECT_EQ(std::bit_cast<std::uint32_t>(decoded[5]), 0u);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(decoded[6]), 0u);
}

TEST(GCompLossless, KeepsDenormalsAndTheSignOfZero) {
  const auto codec = codec_of("gcomp:truncation=none");
  FloatVector values = update(Pattern::denormal, 200'000, 0);
  for (std::size_t i = 0; i < values.size(); i += 3) values[i] = -0.0f;
  Bytes payload;
  ASSERT_TRUE(codec->make_encoder(200'000)->encode({.round = {}}, values, payload).ok());
  FloatVector decoded(values.size());
  ASSERT_TRUE(codec->decode({.round = {}}, payload, decoded).ok());
  EXPECT_EQ(codec_testing::bits_of(decoded), codec_testing::bits_of(values));
}

TEST_F(GComp, TruncatesByTheView) {
  const FloatVector values(kValues, 0x1.555556p-4f);
  FloatVector parameters(kValues, 1.0f);
  const OptimizerView view = {.learning_rate = 1e-3f, .parameters = parameters};
  const FloatVector decoded = decode(encode(0, values, &view));  // δ = 12,000: 12 bits
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(values[0]);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(decoded[0]), bits & 0xfffff000u);
}

// The view has δ = 12,000 for every value. Facts count what was left out.
TEST(GCompSlack, TruncatesByMoreThanTheStepRoundsAway) {
  const FloatVector parameters(1500, 1.0f);
  const FloatVector values(1500, 1.0f / 12 + 0x1p-20f);
  const OptimizerView view = {.learning_rate = 1e-3f, .parameters = parameters};
  const auto bits_dropped = [&](const char* spec) {
    Bytes payload;
    EncodingFacts facts;
    const Status status = codec_of(spec)->make_encoder(1500)->encode(
        {.round = {}, .optimizer = &view, .facts = &facts}, values, payload);
    EXPECT_TRUE(status.ok()) << status.text();
    return facts.mantissa_bits_dropped / values.size();
  };
  EXPECT_EQ(bits_dropped("gcomp:truncation=metric"), 12u);
  EXPECT_EQ(bits_dropped("gcomp:truncation=metric,slack=4"), 12u) << "the next level is from 2^18";
  EXPECT_EQ(bits_dropped("gcomp:truncation=metric,slack=5"), 18u);
  EXPECT_EQ(bits_dropped("gcomp:truncation=6"), 6u);
  EXPECT_EQ(bits_dropped("gcomp:truncation=none"), 0u);
}

// Two chunks, whose parameters are 0 except for a share; δ is 12,000 for that share.
TEST(GCompFeedback, LeavesOut18BitsOfAChunkWhereTheMetricAllowsItForMostValues) {
  constexpr std::size_t kHalf = kChunkValues;
  const FloatVector values(2 * kHalf, 1.0f / 12 + 0x1p-20f);
  const auto bits_dropped = [&](std::size_t first, std::size_t second, bool with_view = true) {
    FloatVector parameters(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      parameters[i] = i % 10 < (i < kHalf ? first : second) ? 1.0f : 0.0f;
    }
    const OptimizerView view = {.learning_rate = 1e-3f, .parameters = parameters};
    Bytes payload;
    EncodingFacts facts;
    const Status status = codec_of("gcomp")->make_encoder(2 * kHalf)->encode(
        {.round = {}, .optimizer = with_view ? &view : nullptr, .facts = &facts}, values, payload);
    EXPECT_TRUE(status.ok()) << status.text();
    return facts.mantissa_bits_dropped / kHalf;
  };
  EXPECT_EQ(bits_dropped(10, 10), 18u + 18u);
  EXPECT_EQ(bits_dropped(7, 7), 18u + 18u);
  EXPECT_EQ(bits_dropped(3, 7), 12u + 18u);
  EXPECT_EQ(bits_dropped(3, 3), 12u + 12u);
  EXPECT_EQ(bits_dropped(10, 10, false), 12u + 12u);
}

// With a slack of 12, the threshold of 18 bits is δ > 2^6.
TEST(GCompFeedback, ComparesTheMetricWithASlackOf12Bits) {
  const FloatVector parameters(1500, 1.0f);
  const auto decoded = [&](float rate, const char* spec = "gcomp") {
    const auto codec = codec_of(spec);
    const OptimizerView view = {.learning_rate = rate, .parameters = parameters};
    FloatVector with_all_bits(1500, std::bit_cast<float>(0x3fffffffu));
    Bytes payload;
    EXPECT_TRUE(codec->make_encoder(1500)
                    ->encode({.round = {}, .optimizer = &view}, with_all_bits, payload)
                    .ok());
    EXPECT_TRUE(codec->decode({.round = {}}, payload, with_all_bits).ok());
    return std::bit_cast<std::uint32_t>(with_all_bits[0]);
  };
  EXPECT_EQ(decoded(0x1p-6f), 0x3ffff000u) << "δ is just above 2^5";
  EXPECT_EQ(decoded(0x1p-8f), 0x3ffc0000u) << "δ is just above 2^7";
  EXPECT_EQ(decoded(0x1p-6f, "gcomp:slack=2"), 0x3ffc0000u);
}

TEST_F(GComp, RefusesAViewThatIsNotTheBuckets) {
  const FloatVector values = update(Pattern::normal, kValues, 0);
  const FloatVector parameters(kValues, 1.0f);
  const auto code_of = [&](const OptimizerView& view) {
    Bytes payload;
    return encoder->encode({.round = {}, .optimizer = &view}, values, payload).code();
  };
  const std::span<const float> all(parameters);
  EXPECT_EQ(code_of({.parameters = all.first(10)}), StatusCode::invalid_argument);
  EXPECT_EQ(code_of({.parameters = all, .first_moment = all.first(10)}),
            StatusCode::invalid_argument);
  EXPECT_EQ(code_of({.step = 0, .parameters = all}), StatusCode::invalid_argument);
  EXPECT_EQ(code_of({.parameters = all}), StatusCode::ok);
}

TEST_F(GComp, ASumIsTruncatedAsItsMeanWouldBe) {
  const FloatVector one(kValues, 0x1.555556p-4f);
  const FloatVector four(kValues, 4 * 0x1.555556p-4f);
  const FloatVector parameters(kValues, 1.0f);
  const OptimizerView view = {.learning_rate = 5e-3f, .parameters = parameters};  // δ = 2,400
  Bytes payload;
  ASSERT_TRUE(
      encoder->encode({.round = {}, .contributors = 4, .optimizer = &view}, four, payload).ok());
  // Truncation depends on the mean, so a sum of 4 keeps the bits that one update would keep.
  EXPECT_EQ(decode(payload)[0], 4 * decode(encode(1, one, &view))[0]);
}

// Random signs and mantissas, exponents with half the frequency at every step down, and some zeros
// and escapes. No function of the C library is used, because their last bits differ between
// machines.
FloatVector golden_values(std::uint32_t n) {
  FloatVector values(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t bits = random_bits({.a = 1, .b = 2}, 2 * i);
    const std::uint32_t steps = random_bits({.a = 1, .b = 2}, 2 * i + 1);
    const auto exponent = static_cast<std::uint32_t>(127 - std::countl_zero(steps | 1u));
    values[i] = std::bit_cast<float>((bits & 0x807fffffu) | (exponent << 23));
    if (i % 6 == 0) values[i] = 0;
    if (i % 500 == 1) values[i] *= 0x1p50f;
  }
  return values;
}

// These bytes are the format. A change of them breaks the exchange with older releases.
TEST(GCompGolden, PayloadsDoNotChange) {
  const struct {
    const char* spec;
    std::uint32_t values;
    std::size_t bytes;
    std::uint32_t checksum;
  } golden[] = {
      {"gcomp", 70, 184, 2613355079},
      {"gcomp", 70'000, 65600, 3351713271},
      {"gcomp:truncation=metric", 70, 472, 1266069248},
      {"gcomp:truncation=metric", 70'000, 162720, 2789693926},
      {"gcomp:truncation=none", 5000, 14460, 1221542065},
      {"gcomp:truncation=18", 5000, 5052, 4048240581},
      {"gcomp:truncation=6,max_length=4", 5000, 11444, 1951905730},
  };
  const FloatVector parameters(70'000, 1.0f);
  for (const auto& g : golden) {
    for (const Backend backend : {Backend::scalar, Backend::simd}) {
      const auto codec = codec_of(g.spec);
      const FloatVector values = golden_values(g.values);
      const OptimizerView view = {.learning_rate = 0.001f,
                                  .parameters = std::span(parameters).first(g.values)};
      Bytes payload;
      const StageCall call = {
          .round = {.round = 3}, .execution = {.backend = backend}, .optimizer = &view};
      ASSERT_TRUE(codec->make_encoder(g.values)->encode(call, values, payload).ok());
      EXPECT_EQ(payload.size(), g.bytes) << g.spec;
      EXPECT_EQ(checksum32(payload), g.checksum) << g.spec;
    }
  }
}

}  // namespace
}  // namespace tributary::gcomp
