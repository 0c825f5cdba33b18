// Tests of QSGD. An independent implementation packs the levels bit by bit; the error is compared
// with the paper's bound.
#include <gtest/gtest.h>

#include "core/base/bytes/checksum.h"
#include "core/codec/codec_testing.h"
#include "core/codec/quantize/packed_levels.h"

namespace tributary::quantize {
namespace {

using codec_testing::codec_of;
using codec_testing::Pattern;

// Levels of all values that `bits` bits can hold.
std::vector<std::int8_t> random_levels(std::size_t count, int bits) {
  const StreamKey key = stream_key({.job_seed = 5, .purpose = DrawPurpose::synthetic_data});
  const auto choices = static_cast<std::uint32_t>(2 * level_max(bits) + 1);
  std::vector<std::int8_t> levels(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto draw = static_cast<int>(random_bits(key, static_cast<std::uint32_t>(i)) % choices);
    levels[i] = static_cast<std::int8_t>(draw - level_max(bits));
  }
  return levels;
}

// An independent implementation of the format, one bit at a time.
std::vector<std::uint8_t> packed_bit_by_bit(const std::vector<std::int8_t>& levels, int bits) {
  std::vector<std::uint8_t> out(packed_bytes(levels.size(), bits), 0);
  std::size_t at = 0;
  for (const std::int8_t level : levels) {
    const int code = std::abs(level) | (level < 0 ? 1 << (bits - 1) : 0);
    for (int bit = 0; bit < bits; ++bit, ++at) {
      if ((code >> bit & 1) != 0) {
        out[at / 8] = static_cast<std::uint8_t>(out[at / 8] | 1u << (at % 8));
      }
    }
  }
  return out;
}

TEST(PackedLevels, AreTheBitsInOrderAndComeBack) {
  for (int bits = kPackedBitsMin; bits <= kPackedBitsMax; ++bits) {
    for (const std::size_t count : {0u, 1u, 7u, 8u, 9u, 63u, 64u, 1001u}) {
      const std::vector<std::int8_t> levels = random_levels(count, bits);
      std::vector<std::uint8_t> packed(packed_bytes(count, bits));
      pack_levels(levels, bits, packed.data());
      EXPECT_EQ(packed, packed_bit_by_bit(levels, bits)) << bits << " bits, " << count;
      std::vector<std::int8_t> back(count);
      unpack_levels(packed.data(), bits, back);
      EXPECT_EQ(back, levels) << bits << " bits, " << count;
    }
  }
}

TEST(PackedLevels, NegativeZeroIsZero) {
  for (int bits = kPackedBitsMin; bits <= kPackedBitsMax; ++bits) {
    const std::uint8_t code = static_cast<std::uint8_t>(1u << (bits - 1));
    std::int8_t level = 1;
    unpack_levels(&code, bits, std::span(&level, 1));
    EXPECT_EQ(level, 0);
  }
}

// A payload and its decoded values.
struct Coded {
  Bytes payload;
  FloatVector decoded;
};

Coded code(const std::string& spec, const FloatVector& update, std::uint64_t round) {
  const auto codec = codec_of(spec);
  const StageCall call = {.round = {.job_seed = 9, .round = round, .bucket = 1}};
  Coded coded = {.payload = {}, .decoded = FloatVector(update.size())};
  const auto encoder = codec->make_encoder(static_cast<std::uint32_t>(update.size()));
  EXPECT_TRUE(encoder->encode(call, update, coded.payload).ok());
  EXPECT_TRUE(codec->decode(call, coded.payload, coded.decoded).ok());
  return coded;
}

std::size_t body_bytes(const Bytes& payload) { return open_payload({}, payload)->body.size(); }

// 1000 values: two blocks of 512, or 16 blocks of 64.
TEST(Qsgd, CostsItsBitsAndANormPerBlock) {
  const FloatVector update = codec_testing::update(Pattern::normal, 1000, 0);
  EXPECT_EQ(body_bytes(code("qsgd", update, 0).payload), 2 * 4 + 500u);
  EXPECT_EQ(body_bytes(code("qsgd:bits=3,block=64", update, 0).payload), 16 * 4 + 375u);
}

// Lemma 3.1 of the paper: the encoding is unbiased, and the squared error of a block of n values is
// at most min(n / s², √n / s) · ‖v‖².
TEST(Qsgd, IsUnbiasedWithinThePapersVariance) {
  constexpr std::size_t kValues = 512;
  constexpr std::uint64_t kRounds = 400;
  const FloatVector update = codec_testing::update(Pattern::normal, kValues, 0);
  double length2 = 0;
  for (const float x : update) length2 += static_cast<double>(x) * static_cast<double>(x);
  for (const int bits : {2, 4, 8}) {
    const double s = level_max(bits);
    const double bound =
        std::min(kValues / (s * s), std::sqrt(static_cast<double>(kValues)) / s) * length2;
    std::vector<double> sum(kValues, 0.0);
    double error2 = 0;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      const Coded coded = code("qsgd:bits=" + std::to_string(bits), update, round);
      for (std::size_t i = 0; i < kValues; ++i) {
        const auto decoded = static_cast<double>(coded.decoded[i]);
        const double error = decoded - static_cast<double>(update[i]);
        sum[i] += decoded;
        error2 += error * error;
      }
    }
    EXPECT_LT(error2 / kRounds, bound) << bits;
    // The deviation of one rounding is at most half a step.
    const double deviation = 0.5 * std::sqrt(length2) / s / std::sqrt(double{kRounds});
    for (std::size_t i = 0; i < kValues; ++i) {
      ASSERT_NEAR(sum[i] / kRounds, static_cast<double>(update[i]), 5 * deviation) << bits;
    }
  }
}

// The largest magnitude is smaller than the Euclidean length, so the levels are closer together.
TEST(Qsgd, LargestMagnitudeAsNormErrsLess) {
  const FloatVector update = codec_testing::update(Pattern::normal, 8192, 0);
  const auto error2 = [&](const std::string& spec) {
    const Coded coded = code(spec, update, 0);
    double sum = 0;
    for (std::size_t i = 0; i < update.size(); ++i) {
      const auto error = static_cast<double>(coded.decoded[i] - update[i]);
      sum += error * error;
    }
    return sum;
  };
  EXPECT_LT(error2("qsgd:norm=max"), error2("qsgd"));
}

// The value is at the highest level, so no random rounding occurs.
TEST(Qsgd, AloneInItsBlockAValueIsItsNorm) {
  FloatVector update(128, 0.0f);
  update[3] = -0.7f;
  update[64] = 1e30f;
  for (const int bits : {2, 5, 8}) {
    const Coded coded = code("qsgd:block=64,bits=" + std::to_string(bits), update, 0);
    for (std::size_t i = 0; i < update.size(); ++i) {
      ASSERT_NEAR(coded.decoded[i], update[i], std::abs(update[i]) * 1e-6f) << i;
    }
  }
}

TEST(Qsgd, TwoAgentsRoundDifferently) {
  const auto codec = codec_of("qsgd");
  const FloatVector update = codec_testing::update(Pattern::normal, 512, 0);
  Bytes first;
  Bytes second;
  ASSERT_TRUE(codec->make_encoder(512)->encode({.round = {.agent = 0}}, update, first).ok());
  ASSERT_TRUE(codec->make_encoder(512)->encode({.round = {.agent = 1}}, update, second).ok());
  EXPECT_NE(first, second);
}

// FLT_MAX exceeds the limit that keeps sums finite.
TEST(Qsgd, RefusesNormsThatNoEncoderWrites) {
  const auto codec = codec_of("qsgd");
  const FloatVector update = codec_testing::update(Pattern::normal, 512, 0);
  const Coded coded = code("qsgd", update, 0);
  const std::size_t prefix = coded.payload.size() - body_bytes(coded.payload);
  for (const float norm : {-1.0f, std::bit_cast<float>(0x7fc00000u), INFINITY, FLT_MAX}) {
    Bytes lying = coded.payload;
    std::memcpy(lying.data() + prefix, &norm, sizeof(norm));
    seal_payload({}, lying);
    FloatVector decoded(512);
    EXPECT_EQ(codec->decode({.round = {}}, lying, decoded).code(), StatusCode::not_finite);
  }
}

// These values fix the format and the draws. A change of them changes the meaning of stored
// payloads.
TEST(Qsgd, Golden) {
  const FloatVector update = codec_testing::update(Pattern::integers, 200, 0);
  EXPECT_EQ(checksum32(code("qsgd:block=64", update, 3).payload), 1325795292u);
  EXPECT_EQ(checksum32(code("qsgd:block=64,bits=3,norm=max", update, 3).payload), 2821427608u);
}

}  // namespace
}  // namespace tributary::quantize
