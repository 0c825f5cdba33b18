#include "core/round/conversation.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

constexpr ConversationTimes kTimes{.heartbeat_interval_ns = 100 * kNsPerMs,
                                   .heartbeat_timeout_ns = 400 * kNsPerMs,
                                   .ack_timeout_ns = 10 * kNsPerMs,
                                   .retries_max = 3};

wire::FrameT leave() {
  wire::LeaveT leave;
  leave.reason = wire::LeaveReason::shutdown;
  return frame_with(leave);
}

const wire::Frame& frame_in(const Action& action) {
  const Result<const wire::Frame*> frame = open_frame(std::get<Send>(action).frame);
  EXPECT_TRUE(frame.ok());
  return **frame;
}

TEST(ReceivedIds, KnowsRepeatsAndKeepsLittle) {
  ReceivedIds ids;
  using Verdict = ReceivedIds::Verdict;
  EXPECT_EQ(ids.take(2), Verdict::fresh);
  EXPECT_EQ(ids.take(2), Verdict::repeat);
  EXPECT_EQ(ids.take(1), Verdict::fresh);
  EXPECT_EQ(ids.take(1), Verdict::repeat);
  EXPECT_EQ(ids.take(3), Verdict::fresh);
  EXPECT_EQ(ids.take(1'000'000), Verdict::too_far);
  EXPECT_EQ(ids.take(0), Verdict::repeat) << "no message has the number 0";
}

TEST(Conversation, AsksAgainUnderTheSameIdUntilAnswered) {
  Conversation talk(1, 9, kTimes, 0);
  Actions out;
  talk.ask(0, leave, out, 77);
  ASSERT_EQ(out.size(), 1u);
  const std::uint64_t id = frame_in(out[0]).message_id();
  talk.retry(9 * kNsPerMs, out);
  EXPECT_EQ(out.size(), 1u) << "too early";
  talk.retry(10 * kNsPerMs, out);
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(frame_in(out[1]).message_id(), id);
  EXPECT_EQ(frame_in(out[1]).session(), 9u);
  talk.retry(29 * kNsPerMs, out);
  EXPECT_EQ(out.size(), 2u) << "pauses grow";

  Conversation other(1, 9, kTimes, 0);
  Actions answers;
  other.acknowledge(0, id, answers);
  const auto asked = talk.answered(frame_in(answers[0]));
  ASSERT_TRUE(asked.has_value());
  EXPECT_EQ(asked->kind, wire::Message::Leave);
  EXPECT_EQ(asked->tag, 77u);
  EXPECT_FALSE(talk.answered(frame_in(answers[0]))) << "answered once";
  talk.retry(1'000 * kNsPerMs, out);
  EXPECT_EQ(out.size(), 2u);
}

TEST(Conversation, FailsWhenItIsNeverAnswered) {
  Conversation talk(1, 9, kTimes, 0);
  Actions out;
  talk.ask(0, leave, out);
  for (TimeNs ms = 0; ms < 2'000; ++ms) talk.retry(ms * kNsPerMs, out);
  EXPECT_TRUE(talk.failed());
  EXPECT_EQ(out.size(), 4u) << "once, and three retries";
}

TEST(Conversation, FailsRatherThanRememberWithoutBound) {
  Conversation talk(1, 9, kTimes, 0);
  Actions out;
  for (int i = 0; i < 10'000; ++i) talk.ask(0, leave, out);
  EXPECT_TRUE(talk.failed());
  EXPECT_LE(talk.unanswered(), 256u);
}

TEST(Conversation, RepeatsAreAcknowledgedAndNotActedOn) {
  Conversation sender(1, 9, kTimes, 0);
  Conversation receiver(1, 9, kTimes, 0);
  Actions out;
  sender.ask(0, leave, out);
  const wire::Frame& frame = frame_in(out[0]);
  Actions answers;
  EXPECT_EQ(receiver.arrived(0, frame, answers), Conversation::Arrival::fresh);
  EXPECT_TRUE(answers.empty()) << "the owner acknowledges, when it is done";
  receiver.answer_later(frame.message_id());
  EXPECT_EQ(receiver.arrived(0, frame, answers), Conversation::Arrival::repeat);
  EXPECT_TRUE(answers.empty()) << "in work";
  receiver.answered_now(frame.message_id());
  EXPECT_EQ(receiver.arrived(0, frame, answers), Conversation::Arrival::repeat);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_TRUE(frame_in(answers[0]).message_as_Ack()->duplicate());
}

TEST(Conversation, HeartbeatsCarryTheOthersBack) {
  Conversation a(1, 9, kTimes, 0);
  Conversation b(1, 9, kTimes, 0);
  Actions out;
  a.heartbeat(100, wire::Activity::training, {}, out);
  b.heard_heartbeat(250, frame_in(out[0]));
  b.heartbeat(300, wire::Activity::idle, {}, out);
  const wire::Heartbeat& beat = *frame_in(out[1]).message_as_Heartbeat();
  EXPECT_EQ(beat.echo_count(), 1u);
  EXPECT_EQ(beat.echo_sent_at_ns(), 100u);
  EXPECT_EQ(beat.echo_held_ns(), 50u);
  EXPECT_TRUE(a.silent(400 * kNsPerMs));
  EXPECT_FALSE(a.silent(399 * kNsPerMs));
}

TEST(Conversation, CountsWhatItSendsAgainToo) {
  Conversation talk(1, 9, kTimes, 0);
  Actions out;
  talk.ask(0, leave, out);
  talk.retry(10 * kNsPerMs, out);
  ASSERT_EQ(out.size(), 2u);
  const std::uint64_t twice =
      std::get<Send>(out[0]).frame.size() + std::get<Send>(out[1]).frame.size();
  const Bytes part(1'000, std::uint8_t{7});
  wire::TransferPartT transfer;
  transfer.transfer = 1;
  transfer.parts = 1;
  transfer.payload_bytes = 1'000;
  talk.send(0, frame_with(transfer), PayloadSlice{.owner = nullptr, .bytes = part}, out);
  ASSERT_EQ(out.size(), 3u);
  const MessageBytes sent = talk.take_sent();
  EXPECT_EQ(sent.of(MessageUse::control), twice);
  EXPECT_EQ(sent.of(MessageUse::models), std::get<Send>(out[2]).frame.size() + part.size());
  EXPECT_EQ(talk.take_sent().of(MessageUse::control), 0u) << "told once";
}

}  // namespace
}  // namespace tributary
