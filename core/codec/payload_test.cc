// Tests of the envelope of payloads: its format, its checksum and its refusals.
#include "core/codec/payload.h"

#include <gtest/gtest.h>

#include "core/codec/codec_testing.h"

namespace tributary {
namespace {

// A complete payload whose body has a known pattern of bytes.
Bytes sealed(const PayloadHeader& header, std::size_t body_bytes) {
  Bytes payload;
  const MutableByteSpan body = start_payload(header, body_bytes, payload);
  for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<std::uint8_t>(i * 31);
  seal_payload({}, payload);
  return payload;
}

TEST(Payload, OpensAsItWasSealed) {
  const Bytes payload = sealed(
      {.spec = "int8:block=64", .stage = 1, .layout = 2, .contributors = 9, .values = 77}, 100);
  EXPECT_EQ(payload.size(), kPayloadFixedHeaderBytes + 16 + 100);
  const Result<OpenPayload> open = open_payload({}, payload);
  ASSERT_TRUE(open.ok()) << open.status().text();
  EXPECT_EQ(open->header.spec, "int8:block=64");
  EXPECT_EQ(open->header.stage, 1);
  EXPECT_EQ(open->header.layout, 2);
  EXPECT_EQ(open->header.contributors, 9u);
  EXPECT_EQ(open->header.values, 77u);
  EXPECT_EQ(open->body.size(), 100u);
  EXPECT_EQ(open->body[3], 93);
}

// Stored payloads must remain readable, so these bytes of version 1 must not change.
TEST(Payload, HeaderBytesAreTheFormat) {
  const Bytes payload = sealed({.spec = "fp32", .contributors = 2, .values = 1}, 4);
  const std::vector<std::uint8_t> head(payload.begin(), payload.begin() + 20);
  EXPECT_EQ(head, (std::vector<std::uint8_t>{'T', 'R', 1, 0, 0, 4, 0, 0, 2, 0,
                                             0,   0,   1, 0, 0, 0, 4, 0, 0, 0}));
  EXPECT_EQ(std::vector<std::uint8_t>(payload.begin() + 24, payload.begin() + 32),
            (std::vector<std::uint8_t>{'f', 'p', '3', '2', 0, 0, 0, 0}));
}

// The body has many hash blocks and an incomplete last one.
TEST(Payload, ChecksumIsTheSameForEveryNumberOfThreads) {
  Bytes alone = sealed({.spec = "fp32", .values = 1}, 3'000'001);
  Bytes shared = alone;
  ThreadPool pool(3);
  seal_payload({.pool = &pool}, shared);
  EXPECT_EQ(alone, shared);
  EXPECT_TRUE(open_payload({.pool = &pool}, alone).ok());
}

TEST(Payload, ShrinkingKeepsTheWrittenBytes) {
  Bytes payload;
  const MutableByteSpan body = start_payload({.spec = "fp32", .values = 5}, 50, payload);
  std::ranges::fill(body, std::uint8_t{7});
  shrink_body(20, payload);
  seal_payload({}, payload);
  const Result<OpenPayload> open = open_payload({}, payload);
  ASSERT_TRUE(open.ok()) << open.status().text();
  EXPECT_EQ(open->body.size(), 20u);
  EXPECT_EQ(open->body[19], 7);
}

TEST(Payload, ErrorsNameExpectedAndFoundValues) {
  Bytes payload = sealed({.spec = "fp32", .values = 1}, 4);
  // Byte 2 is the version, which is checked before the checksum.
  payload[2] = 9;
  EXPECT_EQ(open_payload({}, payload).status().code(), StatusCode::unsupported);
  payload[2] = 1;
  payload.back() ^= 1;
  const Status status = open_payload({}, payload).status();
  EXPECT_EQ(status.code(), StatusCode::corrupt_data);
  EXPECT_NE(status.text().find("checksum"), std::string::npos) << status.text();
  EXPECT_NE(status.text().find("expected"), std::string::npos) << status.text();
}

// Payloads with valid checksums; only the limits refuse them.
TEST(Payload, ClaimsAboveTheCapsAreRefused) {
  Bytes payload = sealed({.spec = "fp32", .values = kBucketValuesMax + 1}, 4);
  EXPECT_EQ(open_payload({}, payload).status().code(), StatusCode::resource_exhausted);
  payload = sealed({.spec = "fp32", .contributors = kContributorsMax + 1, .values = 1}, 4);
  EXPECT_EQ(open_payload({}, payload).status().code(), StatusCode::corrupt_data);
  payload = sealed({.spec = "fp32", .contributors = 0, .values = 1}, 4);
  EXPECT_EQ(open_payload({}, payload).status().code(), StatusCode::corrupt_data);
}

// Decoders read float32 values in place.
TEST(Payload, MustLieOnItsAlignment) {
  const Bytes payload = sealed({.spec = "fp32", .values = 1}, 4);
  Bytes shifted(payload.size() + 1);
  std::ranges::copy(payload, shifted.begin() + 1);
  EXPECT_EQ(open_payload({}, ByteSpan(shifted).subspan(1)).status().code(),
            StatusCode::invalid_argument);
}

TEST(Payload, AnotherCodecStageOrBucketIsAMismatch) {
  const auto int8 = codec_testing::codec_of("int8");
  const Bytes payload = sealed({.spec = "int8", .stage = 0, .values = 10}, 14);
  EXPECT_TRUE(open_payload_of(*int8, 0, 10, {}, payload).ok());
  EXPECT_EQ(open_payload_of(*int8, 1, 10, {}, payload).status().code(), StatusCode::mismatch);
  EXPECT_EQ(open_payload_of(*int8, 0, 11, {}, payload).status().code(), StatusCode::mismatch);
  const auto other = codec_testing::codec_of("int8:block=64");
  const Status status = open_payload_of(*other, 0, 10, {}, payload).status();
  EXPECT_EQ(status.code(), StatusCode::mismatch);
  EXPECT_NE(status.text().find("int8:block=64"), std::string::npos) << status.text();
}

// The body has several blocks, and its reader hashes it in pieces that do not match the blocks.
TEST(UncheckedPayload, IsCheckedByTheHashOfItsReadPartAndTheRest) {
  const auto int8 = codec_testing::codec_of("int8");
  Bytes payload = sealed({.spec = "int8", .values = 10}, 700'001);
  ThreadPool pool(3);
  for (const bool damaged : {false, true}) {
    if (damaged) payload.back() ^= 1;
    for (const std::size_t hashed : {0u, 1u, 65'537u, 600'000u, 700'001u}) {
      auto unchecked = UncheckedPayload::open(*int8, 0, 10, {}, payload);
      ASSERT_TRUE(unchecked.ok()) << unchecked.status().text();
      EXPECT_EQ(unchecked->body().size(), 700'001u);
      for (std::size_t begin = 0; begin < hashed; begin += 50'000) {
        unchecked->hash(begin, std::min(begin + 50'000, hashed));
      }
      const StatusCode expected = damaged ? StatusCode::corrupt_data : StatusCode::ok;
      EXPECT_EQ(unchecked->check({.pool = &pool}).code(), expected) << hashed;
    }
  }
}

// A damaged header may look like another codec's, so damage takes precedence.
TEST(UncheckedPayload, DamageIsReportedBeforeAMismatch) {
  const auto int8 = codec_testing::codec_of("int8");
  Bytes payload = sealed({.spec = "int8", .values = 10}, 14);
  const auto code_of = [&](std::size_t values) {
    return UncheckedPayload::open(*int8, 0, values, {}, payload).status().code();
  };
  EXPECT_EQ(code_of(11), StatusCode::mismatch);
  payload.back() ^= 1;
  EXPECT_EQ(code_of(11), StatusCode::corrupt_data);
}

}  // namespace
}  // namespace tributary
