// Tests that the budget reports repeated bytes, and allows them after a disturbance.
#include "core/sim/checks/byte_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "core/sim/scenario/event_queue.h"

namespace tributary {
namespace {

using testing::HasSubstr;

constexpr std::uint32_t kPart = 100'000;

// One agent with a session. Parts have 100 kB; a beat is a frame that proves a session.
class Budget : public testing::Test {
 protected:
  Budget() { join(1 * kS); }

  // Both sides have sent a frame in the agent's session, long ago.
  void join(TimeNs now) {
    beat(ByteBudget::up, now - 10 * kS);
    beat(ByteBudget::down, now - 10 * kS);
  }

  void beat(ByteBudget::Direction direction, TimeNs now) {
    wire::MessageUnion message;
    message.Set(wire::HeartbeatT());
    send(direction, std::move(message), now);
  }

  void send(ByteBudget::Direction direction, wire::MessageUnion message, TimeNs now) {
    wire::FrameT frame;
    frame.session = message.type == wire::Message::Hello ? 0 : 7;
    frame.message = std::move(message);
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(wire::Frame::Pack(builder, &frame));
    budget.sent(0, direction, *flatbuffers::GetRoot<wire::Frame>(builder.GetBufferPointer()), now);
  }

  static std::unique_ptr<wire::PartT> part(std::uint64_t round, std::uint32_t bucket,
                                           std::uint64_t offset, std::uint32_t bytes) {
    auto made = std::make_unique<wire::PartT>();
    made->id = std::make_unique<wire::RoundId>(
        wire_id({.job = 1, .round = round, .epoch = 1, .attempt = 0}));
    made->bucket = bucket;
    made->offset = offset;
    made->payload_bytes = bytes;
    made->stage_bytes = 1u << 30;
    return made;
  }

  void update(std::uint64_t round, std::uint64_t offset, TimeNs now, std::uint32_t bytes = kPart,
              std::uint32_t bucket = 0) {
    wire::UpdateT made;
    made.part = part(round, bucket, offset, bytes);
    wire::MessageUnion message;
    message.Set(std::move(made));
    send(ByteBudget::up, std::move(message), now);
  }

  void aggregate(std::uint64_t round, std::uint64_t offset, TimeNs now) {
    wire::AggregateT made;
    made.part = part(round, 0, offset, kPart);
    wire::MessageUnion message;
    message.Set(std::move(made));
    send(ByteBudget::down, std::move(message), now);
  }

  void offer(std::uint64_t transfer, std::uint64_t hash, TimeNs now) {
    wire::TransferOfferT made;
    made.transfer = transfer;
    made.hash = hash;
    wire::MessageUnion message;
    message.Set(std::move(made));
    send(ByteBudget::down, std::move(message), now);
  }

  void download(std::uint64_t transfer, std::uint64_t offset_of_download, TimeNs now) {
    wire::TransferPartT part;
    part.transfer = transfer;
    part.offset = offset_of_download;
    part.payload_bytes = kPart;
    wire::MessageUnion message;
    message.Set(part);
    send(ByteBudget::down, std::move(message), now);
  }

  void hello(TimeNs now) {
    wire::MessageUnion message;
    message.Set(wire::HelloT());
    send(ByteBudget::up, std::move(message), now);
  }

  Watch watch;
  ByteBudget budget{1, watch};
};

// Other buckets, rounds and directions are other bytes.
TEST_F(Budget, BytesSentOnceAreNoViolation) {
  for (std::uint64_t i = 0; i < 20; ++i) {
    update(1, i * kPart, 2 * kS);
    aggregate(1, i * kPart, 2 * kS);
  }
  update(1, 0, 2 * kS, kPart, 1);  // another bucket
  update(2, 0, 2 * kS);            // another round
  budget.finish(9 * kS);
  EXPECT_EQ(watch.count(), 0u);
  EXPECT_EQ(budget.tally().checked, 3u);
  EXPECT_EQ(budget.tally().exempt, 0u);
  EXPECT_EQ(budget.tally().times_max, 1);
  EXPECT_EQ(budget.tally().repeated, 0u);
}

// A round is checked when the next one is committed, because parts of it may still be on their way.
TEST_F(Budget, BytesSentTwiceAreAViolation) {
  update(1, 0, 2 * kS);
  update(1, kPart / 2, 3 * kS);  // half of it for the second time
  budget.committed(1, 4 * kS);
  EXPECT_EQ(watch.count(), 0u) << "more of this round may come";
  budget.committed(2, 5 * kS);
  ASSERT_EQ(watch.count(), 1u);
  EXPECT_EQ(watch.violations()[0].invariant, "bytes");
  EXPECT_THAT(watch.violations()[0].text, HasSubstr("agent-0, up, job 1 round 1"));
  EXPECT_THAT(watch.violations()[0].text, HasSubstr("200000 payload bytes"));
  EXPECT_THAT(watch.violations()[0].text, HasSubstr("at 3.000 s"));
}

// A repeat after a timeout is legitimate; the bound is a tenth and one part of 16 KiB.
TEST_F(Budget, ATenthAndAPartMayBeRepeated) {
  update(1, 0, 2 * kS);
  update(1, 0, 2 * kS, kPart / 10 + 16'384);
  budget.committed(2, 5 * kS);
  EXPECT_EQ(watch.count(), 0u);
  update(1, 0, 6 * kS, 1);
  budget.committed(3, 7 * kS);
  EXPECT_EQ(watch.count(), 1u) << "and what comes late counts";
}

// The same bytes up and down are not a repeat.
TEST_F(Budget, DirectionsAreCountedSeparately) {
  aggregate(1, 0, 2 * kS);
  update(1, 0, 2 * kS);
  budget.finish(5 * kS);
  EXPECT_EQ(watch.count(), 0u);
  aggregate(2, 0, 6 * kS);
  aggregate(2, 0, 6 * kS);
  budget.finish(7 * kS);
  ASSERT_EQ(watch.count(), 1u);
  EXPECT_THAT(watch.violations()[0].text, HasSubstr("down"));
}

// A fault may cost a repeat of what was open then, but not for ever.
TEST_F(Budget, ADisturbanceExcusesOpenAndSoonFollowingTransfers) {
  update(1, 0, 2 * kS);
  budget.disturbed(0, 3 * kS);
  update(1, 0, 20 * kS);
  update(2, 0, 4 * kS);
  update(2, 0, 20 * kS);
  budget.committed(3, 21 * kS);
  EXPECT_EQ(watch.count(), 0u);
  update(3, 0, 22 * kS);
  update(3, 0, 22 * kS);
  budget.finish(23 * kS);
  EXPECT_EQ(watch.count(), 1u) << "it is long ago";
  EXPECT_EQ(budget.tally().exempt, 2u);
  EXPECT_EQ(budget.tally().checked, 1u);
}

// Bytes that are sent into a dead connection have to be sent again.
TEST_F(Budget, AnAgentWithoutASessionIsExcusedUntilItHasOne) {
  budget.connection_changed(0, 2 * kS);
  aggregate(1, 0, 60 * kS);
  aggregate(1, 0, 61 * kS);
  budget.committed(2, 62 * kS);
  EXPECT_EQ(watch.count(), 0u);
  join(80 * kS);
  aggregate(2, 0, 90 * kS);
  aggregate(2, 0, 90 * kS);
  budget.finish(91 * kS);
  EXPECT_EQ(watch.count(), 1u);
}

// The agent's heartbeats alone do not make a session.
TEST_F(Budget, ASessionThatOneSideHasGivenUpIsNone) {
  budget.session_lost(0, 20 * kS);
  EXPECT_EQ(budget.tally().sessions_lost, 1u);
  // The agent does not know yet that its session is lost.
  for (TimeNs at = 21 * kS; at < 60 * kS; at += kS) beat(ByteBudget::up, at);
  hello(60 * kS);
  EXPECT_EQ(budget.tally().sessions_lost, 1u);
}

// A new hello without a fault before it means that a session was lost for no reason.
TEST_F(Budget, CountsSessionsThatNothingEnded) {
  hello(20 * kS);
  EXPECT_EQ(budget.tally().sessions_lost, 1u);
  hello(21 * kS);
  EXPECT_EQ(budget.tally().sessions_lost, 1u) << "the same one";
  join(40 * kS);
  budget.connection_changed(0, 50 * kS);
  hello(51 * kS);
  EXPECT_EQ(budget.tally().sessions_lost, 1u) << "its connection has ended";
}

// The hash identifies the content. Two models may be downloaded in turn, but not the first one
// twice.
TEST_F(Budget, ADownloadIsComparedWithTheOffer) {
  offer(1, 77, 2 * kS);
  for (std::uint64_t i = 0; i < 10; ++i) download(1, i << 20, 2 * kS);
  offer(2, 78, 3 * kS);  // a later model
  for (std::uint64_t i = 0; i < 10; ++i) download(2, i << 20, 3 * kS);
  budget.committed(9, 4 * kS);
  EXPECT_EQ(watch.count(), 0u);
  offer(3, 77, 5 * kS);  // the first model again
  for (std::uint64_t i = 0; i < 10; ++i) download(3, i << 20, 5 * kS);
  budget.committed(10, 6 * kS);
  ASSERT_EQ(watch.count(), 1u);
  EXPECT_THAT(watch.violations()[0].text, HasSubstr("download of model 000000000000004d"));
}

// The second half comes under another transfer number, and no byte comes twice.
TEST_F(Budget, ADownloadMayGoOnInAnotherTransfer) {
  offer(1, 77, 2 * kS);
  for (std::uint64_t i = 0; i < 5; ++i) download(1, i << 20, 2 * kS);
  offer(2, 77, 3 * kS);
  for (std::uint64_t i = 5; i < 10; ++i) download(2, i << 20, 3 * kS);
  budget.finish(4 * kS);
  EXPECT_EQ(watch.count(), 0u);
  EXPECT_EQ(budget.tally().checked, 1u);
}

}  // namespace
}  // namespace tributary
