// Tests of the frames in which peers send pieces of an exchange.
#include "core/collective/piece_frame.h"

#include <gtest/gtest.h>

#include "core/codec/codec_testing.h"
#include "schemas/frame.h"

namespace tributary {
namespace {

const ExchangeId kId = {.round = wire::RoundId(7, 5, 2, 1), .session = 99};

Bytes payload() {
  const FloatVector values(100, 1.5f);
  Bytes out;
  EXPECT_TRUE(codec_testing::codec_of("fp32")->make_encoder(100)->encode({}, values, out).ok());
  return out;
}

Bytes frame_of(const ExchangeId& id, const Piece& piece, bool last = true) {
  Result<Bytes> frame = piece_frame(id, piece, last, payload());
  EXPECT_TRUE(frame.ok()) << frame.status().text();
  return frame.ok() ? std::move(*frame) : Bytes();
}

TEST(PieceFrame, IsRestoredFromItsBytes) {
  const Piece partial = {.bucket = 12, .stage = 2, .partial = true, .origin = 4};
  const Piece whole = {.bucket = 12, .stage = 1, .partial = false, .origin = 3};
  for (const bool last : {true, false}) {
    for (const Piece& piece : {partial, whole}) {
      const Result<Piece> read = read_piece(kId, 4, frame_of(kId, piece, last), payload());
      ASSERT_TRUE(read.ok()) << read.status().text();
      EXPECT_EQ(*read, piece);
    }
  }
}

// Late and early pieces have their own status codes, because their senders did nothing wrong.
TEST(PieceFrame, DistinguishesLateEarlyAndForeign) {
  const auto code_of = [](wire::RoundId round, std::uint64_t session) {
    const ExchangeId other = {.round = round, .session = session};
    return read_piece(kId, 0, frame_of(other, {}), payload()).status().code();
  };
  EXPECT_EQ(code_of({7, 5, 2, 0}, 99), StatusCode::cancelled) << "an earlier attempt";
  EXPECT_EQ(code_of({7, 4, 2, 3}, 99), StatusCode::cancelled) << "an earlier round";
  EXPECT_EQ(code_of({7, 9, 1, 0}, 99), StatusCode::cancelled) << "an earlier epoch";
  EXPECT_EQ(code_of({7, 5, 2, 2}, 99), StatusCode::unavailable) << "a later attempt";
  EXPECT_EQ(code_of({7, 6, 2, 0}, 99), StatusCode::unavailable) << "a later round";
  EXPECT_EQ(code_of({8, 5, 2, 1}, 99), StatusCode::mismatch) << "another job";
  EXPECT_EQ(code_of({7, 5, 2, 1}, 98), StatusCode::mismatch) << "another epoch's session";
}

TEST(PieceFrame, RefusesOtherFramesAndSizes) {
  wire::FrameT ack = frame_with(wire::AckT());
  ack.session = kId.session;
  ack.in_reply_to = 1;
  const Result<Bytes> built = build_frame(ack);
  ASSERT_TRUE(built.ok()) << built.status().text();
  EXPECT_EQ(read_piece(kId, 0, *built, {}).status().code(), StatusCode::mismatch);
  Bytes shorter = payload();
  shorter.pop_back();
  EXPECT_EQ(read_piece(kId, 0, frame_of(kId, {}), shorter).status().code(),
            StatusCode::corrupt_data);
  EXPECT_FALSE(read_piece(kId, 0, {}, {}).ok());
}

// Aggregates of the coordinator and payloads in parts are not valid between peers.
TEST(PieceFrame, RefusesInvalidFrames) {
  const auto code_of = [](std::uint32_t parts, std::int32_t owner) {
    wire::AggregateT whole;
    whole.part = std::make_unique<wire::PartT>();
    whole.part->id = std::make_unique<wire::RoundId>(kId.round);
    whole.part->stage_bytes = parts == 1 ? 10 : 20;
    whole.part->payload_bytes = 10;
    whole.agent_index = owner;
    whole.contributors = 1;
    wire::FrameT frame = frame_with(std::move(whole));
    frame.session = kId.session;
    const Result<Bytes> bytes = build_frame(frame);
    EXPECT_TRUE(bytes.ok()) << bytes.status().text();
    return read_piece(kId, 0, *bytes, Bytes(10)).status().code();
  };
  EXPECT_EQ(code_of(1, 2), StatusCode::ok);
  EXPECT_EQ(code_of(1, -1), StatusCode::unsupported);
  EXPECT_EQ(code_of(2, 2), StatusCode::unsupported);
}

}  // namespace
}  // namespace tributary
