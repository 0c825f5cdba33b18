// Tests of the payload that belongs to a frame.
#include "schemas/payload.h"

#include <gmock/gmock.h>

#include <memory>

#include "schemas/fill_testing.h"
#include "schemas/frame.h"

namespace tributary {
namespace {

using ::testing::HasSubstr;

const Bytes kPayload(100, 7);

// An update whose envelope states `payload` as its complete payload.
wire::FrameT update_with(ByteSpan payload) {
  wire::UpdateT update;
  update.part = std::make_unique<wire::PartT>();
  update.part->id = std::make_unique<wire::RoundId>(1, 1, 1, 0);
  const PayloadClaim claim = claim_for(payload);
  update.part->stage_bytes = payload.size();
  update.part->payload_bytes = claim.bytes;
  update.part->payload_checksum = claim.checksum;
  update.weight = 1;
  wire::FrameT frame = frame_with(std::move(update));
  frame.session = 1;
  return frame;
}

TEST(Payload, AClaimedPayloadIsAccepted) {
  for (const ByteSpan payload : {ByteSpan(kPayload), ByteSpan()}) {
    const auto bytes = build_frame(update_with(payload));
    ASSERT_TRUE(bytes.ok()) << bytes.status().text();
    const wire::Frame& frame = **open_frame(*bytes);
    EXPECT_TRUE(check_payload(frame, payload).ok());
    EXPECT_EQ(claim_of(frame)->bytes, payload.size());
  }
}

TEST(Payload, AnotherLengthOrContentIsRefused) {
  const Bytes bytes = *build_frame(update_with(kPayload));
  const wire::Frame& frame = **open_frame(bytes);
  const Status shorter = check_payload(frame, ByteSpan(kPayload).first(99));
  EXPECT_EQ(shorter.code(), StatusCode::corrupt_data);
  EXPECT_THAT(shorter.text(), HasSubstr("expected 100 bytes, got 99"));
  Bytes damaged = kPayload;
  damaged[50] ^= 1;
  EXPECT_THAT(check_payload(frame, damaged).text(),
              HasSubstr("payload of a Update: expected checksum"));
}

TEST(Payload, BehindAMessageThatHasNoneIsRefused) {
  wire::FrameT ack = frame_with(wire::AckT());
  ack.session = ack.in_reply_to = 1;
  const Bytes bytes = *build_frame(ack);
  const Status status = check_payload(**open_frame(bytes), {});
  EXPECT_EQ(status.code(), StatusCode::corrupt_data);
  EXPECT_THAT(status.text(), HasSubstr("message part behind a Ack"));
}

// claim_of() must work for every kind with kHasPayload.
TEST(Payload, EveryKindThatHasOneClaimsIt) {
  std::size_t with_payload = 0;
  for (const wire::FilledFrame& filled : wire::filled_frames()) {
    const Bytes bytes(filled.bytes.begin(), filled.bytes.end());
    const wire::Frame& frame = **open_frame(bytes);
    const auto claim = claim_of(frame);
    EXPECT_EQ(claim.ok(), wire::rules_of(frame.message_type()).has(wire::kHasPayload));
    if (!claim.ok()) continue;
    ++with_payload;
    EXPECT_EQ(claim->bytes, 16u) << filled.kind;
    EXPECT_NE(claim->checksum, 0u) << filled.kind;
  }
  EXPECT_EQ(with_payload, 5u);
}

}  // namespace
}  // namespace tributary
