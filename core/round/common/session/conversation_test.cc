// Tests of the messages of a session: repeats, acknowledgements, heartbeats and their bounds. Two
// conversations exchange frames in memory, and the test loses some.
#include "core/round/common/session/conversation.h"

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

const wire::Frame& frame_in(const Send& send) {
  const Result<const wire::Frame*> frame = open_frame(send.frame);
  EXPECT_TRUE(frame.ok());
  return **frame;
}
const wire::Frame& frame_in(const Action& action) { return frame_in(std::get<Send>(action)); }

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

// The two sides of one session, and the frames that each has sent.
struct Pair {
  Conversation a{1, 9, kTimes, 0};
  Conversation b{1, 9, kTimes, 0};
  Actions from_a;
  Actions from_b;

  // Delivers to `a` at time `now` a heartbeat of `b` that answers one of `a`.
  void beat_and_answer(TimeNs now, bool b_hears = true) {
    Actions beat;
    a.heartbeat(now, wire::Activity::idle, {}, beat);
    if (b_hears) {
      b.arrived(now, frame_in(beat.back()), from_b);
      b.receive_heartbeat(now, frame_in(beat.back()), from_b);
    }
    Actions answer;
    b.heartbeat(now, wire::Activity::idle, {}, answer);
    a.arrived(now, frame_in(answer.back()), from_a);
    a.receive_heartbeat(now, frame_in(answer.back()), from_a);
  }
};

TEST(Conversation, NoTimerRepeatsAMessage) {
  Pair pair;
  pair.a.ask(0, leave, pair.from_a);
  EXPECT_EQ(pair.a.next_due_ns(), kTimes.heartbeat_interval_ns) << "only the heartbeat is due";
}

TEST(Conversation, RepeatsAMessageThatAnAnsweredHeartbeatProvesLost) {
  Pair pair;
  pair.a.ask(0, leave, pair.from_a, 77);
  ASSERT_EQ(pair.from_a.size(), 1u);
  const std::uint64_t id = frame_in(pair.from_a[0]).message_id();
  pair.beat_and_answer(100, false);
  EXPECT_EQ(pair.from_a.size(), 1u)
      << "b has not received the heartbeat: the message may be behind it";
  pair.beat_and_answer(200);
  ASSERT_EQ(pair.from_a.size(), 2u);
  EXPECT_EQ(frame_in(pair.from_a[1]).message_id(), id);
  EXPECT_EQ(frame_in(pair.from_a[1]).session(), 9u);

  // The message arrives and its answer is deferred. It is then repeated only rarely, in case the
  // answer was lost.
  EXPECT_EQ(pair.b.arrived(300, frame_in(pair.from_a[1]), pair.from_b),
            Conversation::Arrival::fresh);
  pair.b.answer_later(id);
  for (TimeNs now = 400; now < 100'400; now += 100) pair.beat_and_answer(now);
  EXPECT_LE(pair.from_a.size(), 11u) << "in a thousand heartbeats";
  EXPECT_GE(pair.from_a.size(), 9u);
  EXPECT_EQ(pair.a.trouble(0), "");

  pair.from_b.clear();
  pair.b.acknowledge(5'000, id, pair.from_b);
  const auto asked = pair.a.answered(frame_in(pair.from_b[0]));
  ASSERT_TRUE(asked.has_value());
  EXPECT_EQ(asked->kind, wire::Message::Leave);
  EXPECT_EQ(asked->tag, 77u);
  EXPECT_FALSE(pair.a.answered(frame_in(pair.from_b[0]))) << "answered once";
}

TEST(Conversation, FailsWhenAMessageIsAlwaysLost) {
  Pair pair;
  pair.a.ask(0, leave, pair.from_a);
  for (TimeNs now = 100; now < 2'000; now += 100) pair.beat_and_answer(now);
  EXPECT_EQ(pair.a.trouble(0), "no_answer");
  EXPECT_EQ(pair.from_a.size(), 4u) << "once, and three times again";
}

BulkStream stream_of(std::uint64_t bytes) {
  return {.id = {.transfer = 5},
          .bytes = bytes,
          .slice = slices_of(std::make_shared<const Bytes>(bytes)),
          .frame = [](std::uint64_t offset, const PayloadSlice& slice) {
            wire::TransferPartT part;
            part.transfer = 5;
            part.offset = offset;
            part.payload_bytes = static_cast<std::uint32_t>(slice.bytes.size());
            return frame_with(part);
          }};
}

TEST(Conversation, BulkFollowsAcknowledgements) {
  Pair pair;
  const std::uint64_t bytes = 10 * SendWindow::kPartBytesMin;
  pair.a.stream(0, stream_of(bytes), 0, pair.from_a);
  std::uint64_t arrived = 0;
  std::size_t next = 0;
  TimeNs now = 0;
  for (; next < pair.from_a.size(); now += kNsPerMs) {
    EXPECT_LE(pair.from_a.size() - next, 8u) << "no more is under way than the window has";
    const Send send = std::get<Send>(pair.from_a[next++]);
    arrived += send.payload.bytes.size();
    EXPECT_EQ(pair.b.arrived(now, frame_in(send), pair.from_b), Conversation::Arrival::fresh);
    pair.b.acknowledge_bulk(now, pair.from_b);
    ASSERT_EQ(pair.from_b.size(), 1u) << "each part is acknowledged at once";
    EXPECT_EQ(frame_in(pair.from_b[0]).bulk_received(), next);
    pair.a.arrived(now, frame_in(pair.from_b[0]), pair.from_a);
    pair.from_b.clear();
  }
  EXPECT_EQ(arrived, bytes);
  EXPECT_TRUE(pair.a.bulk().idle());
  pair.b.acknowledge_bulk(now, pair.from_b);
  EXPECT_TRUE(pair.from_b.empty()) << "told once";
  const RepeatedBytes repeated = pair.a.take_traffic().repeated;
  EXPECT_EQ(repeated.lost_down, 0u);
}

TEST(Conversation, AHeartbeatGoesBeforeBulkWhenTheRoundTripIsOld) {
  Pair pair;
  const auto send = [&](TimeNs now, std::uint64_t transfer) {
    pair.from_a.clear();
    BulkStream stream = stream_of(100);
    stream.id.transfer = transfer;
    pair.a.stream(now, std::move(stream), 0, pair.from_a);
    std::vector<wire::Message> kinds;
    for (const Action& action : pair.from_a) {
      kinds.push_back(frame_in(action).message_type());
      pair.b.arrived(now, frame_in(action), pair.from_b);
    }
    pair.b.heartbeat(now, wire::Activity::idle, {}, pair.from_b);  // acknowledges the message
    pair.a.arrived(now, frame_in(pair.from_b.back()), pair.from_a);
    return kinds;
  };
  using enum wire::Message;
  EXPECT_EQ(send(1, 1), (std::vector{TransferPart}));
  EXPECT_EQ(send(5'000 * kNsPerMs, 2), (std::vector{TransferPart}));
  EXPECT_EQ(send(21'000 * kNsPerMs, 3), (std::vector{Heartbeat, TransferPart}));
  EXPECT_EQ(send(22'000 * kNsPerMs, 4), (std::vector{TransferPart}));
}

TEST(Conversation, SmallPayloadsShareAnAcknowledgement) {
  Pair pair;
  for (std::uint64_t transfer = 1; transfer <= 3; ++transfer) {
    BulkStream small = stream_of(100);
    small.id.transfer = transfer;
    pair.a.stream(0, std::move(small), 0, pair.from_a);
  }
  ASSERT_EQ(pair.from_a.size(), 3u);
  for (const Action& action : pair.from_a) {
    pair.b.arrived(kNsPerMs, frame_in(action), pair.from_b);
    pair.b.acknowledge_bulk(kNsPerMs, pair.from_b);
  }
  EXPECT_TRUE(pair.from_b.empty());
  EXPECT_EQ(pair.b.next_due_ns(), 26 * kNsPerMs);
  pair.b.acknowledge_bulk(26 * kNsPerMs, pair.from_b);
  ASSERT_EQ(pair.from_b.size(), 1u);
  EXPECT_EQ(frame_in(pair.from_b[0]).bulk_received(), 3u);
  EXPECT_EQ(pair.b.next_due_ns(), kTimes.heartbeat_interval_ns);
}

TEST(Conversation, ALostPartIsRepeatedUnderItsNumberAndCounted) {
  Pair pair;
  pair.a.stream(0, stream_of(2 * SendWindow::kPartBytesMin), 0, pair.from_a);
  ASSERT_EQ(pair.from_a.size(), 2u);
  // The first frame is lost. The second one alone does not count as received.
  EXPECT_EQ(pair.b.arrived(1, frame_in(pair.from_a[1]), pair.from_b), Conversation::Arrival::fresh);
  pair.beat_and_answer(100);
  ASSERT_EQ(pair.from_a.size(), 4u);
  EXPECT_EQ(frame_in(pair.from_a[2]).bulk_number(), 1u);
  EXPECT_EQ(pair.b.arrived(200, frame_in(pair.from_a[2]), pair.from_b),
            Conversation::Arrival::fresh);
  EXPECT_EQ(pair.b.arrived(201, frame_in(pair.from_a[3]), pair.from_b),
            Conversation::Arrival::repeat);
  EXPECT_EQ(pair.a.take_traffic().repeated.lost_down, 2u * SendWindow::kPartBytesMin);
  EXPECT_EQ(pair.b.take_traffic().repeated.lost_up, SendWindow::kPartBytesMin);
  pair.from_b.clear();
  pair.b.acknowledge_bulk(202, pair.from_b);
  ASSERT_EQ(pair.from_b.size(), 1u);
  EXPECT_EQ(frame_in(pair.from_b[0]).bulk_received(), 2u);
}

TEST(Conversation, FailsRatherThanRememberWithoutBound) {
  Conversation conversation(1, 9, kTimes, 0);
  Actions out;
  for (int i = 0; i < 10'000; ++i) conversation.ask(0, leave, out);
  EXPECT_EQ(conversation.trouble(0), "no_answer");
  EXPECT_LE(conversation.unanswered(), 256u);
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
  receiver.acknowledge(0, frame.message_id(), answers);
  answers.clear();
  EXPECT_EQ(receiver.arrived(0, frame, answers), Conversation::Arrival::repeat);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_TRUE(frame_in(answers[0]).message_as_Ack()->duplicate());
}

TEST(Conversation, ARepeatOfARefusedMessageIsRefusedAgain) {
  Conversation sender(1, 9, kTimes, 0);
  Conversation receiver(1, 9, kTimes, 0);
  Actions out;
  sender.ask(0, leave, out);
  const wire::Frame& frame = frame_in(out[0]);
  Actions answers;
  receiver.arrived(0, frame, answers);
  receiver.refuse(0, frame.message_id(), refusal_of(wire::RefusalCode::busy, Fault{.what = "it"}),
                  answers);
  EXPECT_EQ(receiver.arrived(1, frame, answers), Conversation::Arrival::repeat);
  ASSERT_EQ(answers.size(), 2u);
  for (const Action& answer : answers) {
    EXPECT_EQ(frame_in(answer).in_reply_to(), frame.message_id());
    ASSERT_TRUE(frame_in(answer).message_as_Refusal());
    EXPECT_EQ(frame_in(answer).message_as_Refusal()->code(), wire::RefusalCode::busy);
  }
}

TEST(Conversation, HeartbeatsCarryTheOthersBack) {
  Conversation a(1, 9, kTimes, 0);
  Conversation b(1, 9, kTimes, 0);
  Actions out;
  a.heartbeat(100, wire::Activity::training, {}, out);
  b.receive_heartbeat(250, frame_in(out[0]), out);
  b.heartbeat(300, wire::Activity::idle, {}, out);
  const wire::Heartbeat& beat = *frame_in(out[1]).message_as_Heartbeat();
  EXPECT_EQ(beat.echo_count(), 1u);
  EXPECT_EQ(beat.echo_sent_at_ns(), 100u);
  EXPECT_EQ(beat.echo_held_ns(), 50u);
  EXPECT_EQ(a.receive_heartbeat(450, frame_in(out[1]), out), 300) << "without the time it was held";
  EXPECT_EQ(a.trouble(400 * kNsPerMs), "silent");
  EXPECT_EQ(a.trouble(399 * kNsPerMs), "");
}

TEST(Conversation, CountsSentBytes) {
  Conversation conversation(1, 9, kTimes, 0);
  Actions out;
  conversation.ask(0, leave, out);
  const Bytes part(1'000, std::uint8_t{7});
  wire::TransferPartT transfer;
  transfer.transfer = 1;
  transfer.payload_bytes = 1'000;
  const PayloadSlice slice{.owner = nullptr, .bytes = part};
  conversation.send(0, frame_with(transfer), out, 0, &slice);
  ASSERT_EQ(out.size(), 2u);
  const MessageBytes sent = conversation.take_traffic().sent;
  EXPECT_EQ(sent.of(MessageUse::control), std::get<Send>(out[0]).frame.size());
  EXPECT_EQ(sent.of(MessageUse::models), std::get<Send>(out[1]).frame.size() + part.size());
  EXPECT_EQ(conversation.take_traffic().sent.of(MessageUse::control), 0u) << "told once";
}

TEST(Conversation, RefusesAcknowledgementsOfUnsentBytes) {
  Conversation conversation(1, 9, kTimes, 0);
  Actions out;
  const auto frame_that_says = [&](std::uint64_t bulk, std::uint64_t messages) {
    wire::FrameT frame = frame_with(wire::HeartbeatT());
    frame.message.AsHeartbeat()->count = 1;
    frame.message.AsHeartbeat()->activity = wire::Activity::idle;
    frame.session = 9;
    frame.bulk_received = bulk;
    frame.messages_received = messages;
    return Send{.peer = 1, .frame = *build_frame(frame)};
  };
  EXPECT_EQ(conversation.arrived(1, frame_in(frame_that_says(0, 0)), out),
            Conversation::Arrival::fresh);
  EXPECT_EQ(conversation.arrived(1, frame_in(frame_that_says(1, 0)), out),
            Conversation::Arrival::refused);
  EXPECT_EQ(conversation.arrived(1, frame_in(frame_that_says(0, 1)), out),
            Conversation::Arrival::refused);
}

TEST(Conversation, ProgressOfBytesIsLife) {
  Conversation conversation(1, 9, kTimes, 0);
  conversation.bytes_arrived(300 * kNsPerMs);
  EXPECT_EQ(conversation.trouble(600 * kNsPerMs), "");
  EXPECT_EQ(conversation.trouble(700 * kNsPerMs), "silent");
}

}  // namespace
}  // namespace tributary
