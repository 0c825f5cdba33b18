// Tests of the lossless codecs: byte planes, levels of compression and hostile bodies.
#include <gtest/gtest.h>

#include "core/codec/codec_testing.h"
#include "core/codec/lossless/planes.h"

namespace tributary::lossless {
namespace {

using codec_testing::Pattern;

TEST(Planes, JoinRestoresTheInputOfSplit) {
  for (const std::size_t size : {0u, 1u, 2u, 63u, 1000u}) {
    const FloatVector values = codec_testing::update(Pattern::extremes, size, 0);
    Bytes planes(size * 4);
    split_planes(values, planes);
    FloatVector back(size);
    join_planes(planes, back);
    EXPECT_EQ(codec_testing::bits_of(back), codec_testing::bits_of(values));
    for (std::size_t i = 0; i < size; ++i) {
      // The last plane has the bytes with sign and exponent.
      ASSERT_EQ(planes[3 * size + i], std::bit_cast<std::uint32_t>(values[i]) >> 24);
    }
  }
}

std::size_t encoded_bytes(const std::string& spec, const FloatVector& update) {
  const auto codec = codec_testing::codec_of(spec);
  Bytes payload;
  const auto encoder = codec->make_encoder(static_cast<std::uint32_t>(update.size()));
  EXPECT_TRUE(encoder->encode({.round = {}}, update, payload).ok());
  return payload.size();
}

TEST(Lossless, PlanesAreWorthIt) {
  const FloatVector update = codec_testing::update(Pattern::normal, 600'000, 0);
  for (const char* name : {"zstd", "zlib"}) {
    const std::size_t plain = encoded_bytes(name, update);
    const std::size_t planes = encoded_bytes(std::string(name) + ":layout=planes", update);
    EXPECT_LT(planes, plain) << name;
    EXPECT_LT(plain, update.size() * 4) << name;
  }
}

TEST(Lossless, HigherLevelsAreNotLarger) {
  const FloatVector update = codec_testing::update(Pattern::integers, 100'000, 0);
  EXPECT_LT(encoded_bytes("zstd:level=19", update), encoded_bytes("zstd", update));
  EXPECT_LT(encoded_bytes("zlib:level=9", update), encoded_bytes("zlib", update));
}

// The table of piece sizes is untrusted. 300,000 values are two pieces.
TEST(Lossless, PiecesMustFillTheBody) {
  const auto codec = codec_testing::codec_of("zstd");
  const FloatVector update = codec_testing::update(Pattern::normal, 300'000, 0);
  Bytes payload;
  ASSERT_TRUE(codec->make_encoder(300'000)->encode({.round = {}}, update, payload).ok());
  const std::size_t prefix = kPayloadFixedHeaderBytes + 8;
  std::uint32_t first = 0;
  std::memcpy(&first, payload.data() + prefix, sizeof(first));
  FloatVector decoded(300'000);
  for (const std::uint32_t lie : {first - 1, first + 1, 0u, ~0u}) {
    Bytes lying = payload;
    std::memcpy(lying.data() + prefix, &lie, sizeof(lie));
    seal_payload({}, lying);
    EXPECT_EQ(codec->decode({.round = {}}, lying, decoded).code(), StatusCode::corrupt_data);
  }
}

}  // namespace
}  // namespace tributary::lossless
