// The bytes of the format. They may change only with the version of the envelope.
#include <gtest/gtest.h>

#include "core/base/bytes/checksum.h"
#include "core/codec/codec_testing.h"
#include "core/codec/thc/body.h"

namespace tributary::thc {
namespace {

using codec_testing::codec_of;
using codec_testing::Round;

// Integers, so that the input needs no mathematics library.
FloatVector update(std::size_t values, std::uint32_t agent) {
  FloatVector out(values);
  for (std::size_t i = 0; i < values; ++i) {
    const auto element = static_cast<std::uint32_t>(i);
    out[i] = static_cast<float>(static_cast<int>(random_bits({7, agent}, element) % 2001) - 1000);
  }
  return out;
}

// The hash of all payloads of a round and of the decoded sum.
std::uint64_t trace(const std::string& spec, std::size_t values, std::uint32_t agents) {
  const auto codec = codec_of(spec);
  std::vector<FloatVector> all;
  for (std::uint32_t agent = 0; agent < agents; ++agent) all.push_back(update(values, agent));
  Round round(*codec, all, agents);
  Checksum checksum;
  for (std::size_t stage = 0; stage < 2; ++stage) {
    for (std::size_t agent = 0; agent < agents; ++agent) {
      checksum.update(round.payload(stage, agent));
    }
    checksum.update(round.combined(stage));
  }
  FloatVector sum(values);
  EXPECT_TRUE(codec->decode(round.call(1), round.combined(1), sum).ok());
  checksum.update(bytes_of(std::span<const float>(sum)));
  return checksum.finish64();
}

TEST(ThcGolden, WholeRounds) {
  EXPECT_EQ(trace("thc", 10'000, 4), 0x07793dddaeda82b3ull);
  EXPECT_EQ(trace("thc:granularity=30,p=0.03125,rounding=independent", 10'000, 3),
            0x52c5d0b39ba251afull);
  EXPECT_EQ(trace("thc:bits=3,block=256", 5'000, 5), 0xbde616f695ccce06ull);
  EXPECT_EQ(trace("thc:bits=8,levels=uniform,down=16", 100, 2), 0x3fc687bd53db5313ull);
  EXPECT_EQ(trace("thc:rotation=off", 5'000, 3), 0x0713181875953c5bull);
  EXPECT_EQ(trace("thc:range=minmax", 5'000, 3), 0x71d6f06f36d8e8a5ull);
  EXPECT_EQ(trace("thc:levels=uniform,range=minmax,rotation=off", 5'000, 3), 0x0322ed0204ad2c85ull);
  EXPECT_EQ(trace("thc:rate=1.5,block=256", 5'000, 3), 0x6891fca3ca841260ull);
  EXPECT_EQ(trace("thc:rate=3,down_weight=0", 10'000, 4), 0x67b4eb1d0b66c512ull);
}

// Complete bodies, so that a changed byte is visible in the failure.
TEST(ThcGolden, OneSmallBucket) {
  const auto codec = codec_of("thc");
  Round round(*codec, {update(64, 0), update(64, 1)}, 2);
  const auto body = [](const Bytes& payload) {
    const Result<OpenPayload> open = open_payload({}, payload);
    EXPECT_TRUE(open.ok());
    return std::vector<std::uint8_t>(open->body.begin(), open->body.end());
  };
  EXPECT_EQ(body(round.payload(0, 0)), (std::vector<std::uint8_t>{0x04, 0x56, 0x18, 0x44}));
  EXPECT_EQ(body(round.payload(1, 0)),
            (std::vector<std::uint8_t>{
                0x3d, 0x00, 0xe1, 0x67, 0x8c, 0x3e, 0x2a, 0x40, 0x67, 0x58, 0x35, 0xcb, 0xd8, 0x4f,
                0x61, 0x7e, 0x64, 0x8a, 0x43, 0xb4, 0x75, 0x53, 0xbb, 0x54, 0x86, 0x83, 0x5e, 0x4b,
                0x99, 0xbb, 0xa8, 0x6b, 0xd9, 0x47, 0x47, 0xe5, 0x5b, 0xcd, 0xcb, 0x75}));
  EXPECT_EQ(body(round.combined(1)),
            (std::vector<std::uint8_t>{
                0x3d, 0x00, 0xe1, 0x67, 0x8c, 0x3e, 0x2a, 0x40, 0x43, 0xda, 0x89, 0xe6, 0x3a,
                0x0d, 0x9b, 0xc6, 0x28, 0x58, 0xe7, 0x01, 0x7e, 0x81, 0xb7, 0x50, 0x92, 0xd6,
                0x5b, 0xa1, 0x8c, 0x2e, 0xe3, 0xe9, 0x04, 0x34, 0xde, 0x9a, 0xb7, 0x1e, 0x27,
                0xf9, 0xa5, 0x0d, 0x51, 0xd0, 0x24, 0x93, 0x69, 0x64, 0xa6, 0x42, 0x37, 0x2f,
                0x6d, 0x93, 0xea, 0xd1, 0xa6, 0xc9, 0x98, 0xd6, 0x9a, 0x52, 0xd2, 0x6e}));
}

}  // namespace
}  // namespace tributary::thc
