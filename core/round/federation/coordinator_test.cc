// The coordinator's answers to messages that break a rule. Every refusal is counted by its reason.
#include "core/round/coordinator/coordinator.h"

#include <gtest/gtest.h>

#include "core/round/common/session/conversation.h"

namespace tributary {
namespace {

Bytes built(const wire::FrameT& frame) {
  Result<Bytes> bytes = build_frame(frame);
  EXPECT_TRUE(bytes.ok()) << bytes.status().text();
  return std::move(*bytes);
}

wire::HelloT hello_of(const std::string& agent_id, std::uint64_t incarnation) {
  wire::HelloT hello;
  hello.version_min = hello.version_max = wire::kProtocolVersionMax;
  hello.role = wire::Role::agent;
  hello.agent_id = agent_id;
  hello.incarnation = incarnation;
  return hello;
}

wire::FrameT first(wire::HelloT hello) {
  wire::FrameT frame = frame_with(std::move(hello));
  frame.message_id = 1;
  return frame;
}

// A coordinator and a job. The test plays the agents.
class CoordinatorAlone : public testing::Test {
 protected:
  CoordinatorAlone() {
    Result<std::unique_ptr<Coordinator>> made = Coordinator::make({}, {});
    EXPECT_TRUE(made.ok());
    coordinator_ = std::move(*made);
  }

  void hear(PeerId peer, const wire::FrameT& frame, std::string_view as = {}) {
    hear(peer, built(frame), as);
  }
  void hear(PeerId peer, const Bytes& bytes, std::string_view as = {}) {
    answers_.clear();
    reasons_.clear();
    for (const Action& action : coordinator_->handle(
             now_,
             FrameReceived{.peer = peer, .frame = bytes, .payload = {}, .authenticated_as = as})) {
      if (const auto* note = std::get_if<Note>(&action)) reasons_.emplace_back(note->reason);
      if (const auto* send = std::get_if<Send>(&action)) {
        const Result<const wire::Frame*> frame = open_frame(send->frame);
        ASSERT_TRUE(frame.ok());
        (*frame)->UnPackTo(&answers_.emplace_back());
      }
    }
  }
  const wire::RefusalT* refusal() const {
    for (const wire::FrameT& answer : answers_) {
      if (const auto* refusal = answer.message.AsRefusal()) return refusal;
    }
    return nullptr;
  }
  const wire::FrameT* welcome() const {
    for (const wire::FrameT& answer : answers_) {
      if (answer.message.AsWelcome()) return &answer;
    }
    return nullptr;
  }
  bool has_reason(std::string_view reason) const {
    return std::ranges::find(reasons_, reason) != reasons_.end();
  }

  TimeNs now_ = 0;
  std::unique_ptr<Coordinator> coordinator_;
  std::vector<wire::FrameT> answers_;
  std::vector<std::string> reasons_;
};

TEST_F(CoordinatorAlone, WelcomesAndRepeatsItself) {
  hear(1, first(hello_of("a", 7)));
  ASSERT_NE(welcome(), nullptr);
  const std::uint64_t session = welcome()->session;
  hear(1, first(hello_of("a", 7)));
  ASSERT_NE(welcome(), nullptr);
  EXPECT_EQ(welcome()->session, session);
  EXPECT_EQ(coordinator_->agents().size(), 1u);
}

TEST_F(CoordinatorAlone, ReadsTheRoundTripFromAnEchoThatMakesSense) {
  hear(1, first(hello_of("a", 7)));
  ASSERT_NE(welcome(), nullptr);
  const std::uint64_t session = welcome()->session;
  now_ = 1'000;
  const auto trip_s = [&](std::uint64_t sent_at, std::uint64_t held) {
    wire::HeartbeatT beat;
    beat.count = 1;
    beat.activity = wire::Activity::idle;
    beat.echo_count = 1;
    beat.echo_sent_at_ns = sent_at;
    beat.echo_held_ns = held;
    wire::FrameT frame = frame_with(beat);
    frame.session = session;
    const Bytes bytes = built(frame);
    for (const Action& action : coordinator_->handle(
             now_,
             FrameReceived{.peer = 1, .frame = bytes, .payload = {}, .authenticated_as = {}})) {
      const auto* reading = std::get_if<Reading>(&action);
      if (reading && reading->kind == ReadingKind::round_trip_s && reading->agent_id == "a") {
        return reading->value;
      }
    }
    return -1.0;
  };
  EXPECT_DOUBLE_EQ(trip_s(400, 100), 500e-9);
  EXPECT_EQ(trip_s(1'001, 0), -1) << "from the future";
  EXPECT_EQ(trip_s(400, 601), -1) << "held for longer than it was away";
  EXPECT_EQ(trip_s(UINT64_MAX, UINT64_MAX), -1);
}

// An agent that has acknowledged the Leave closes its connection and answers nothing else, so the
// coordinator must not wait for it.
TEST_F(CoordinatorAlone, IsIdleAfterAllAgentsReceivedItsGoodbye) {
  hear(1, first(hello_of("a", 7)));
  ASSERT_NE(welcome(), nullptr);
  const std::uint64_t session = welcome()->session;
  std::vector<std::uint64_t> asked;
  const auto note_requests = [&](const Actions& actions) {
    for (const Action& action : actions) {
      if (const auto* send = std::get_if<Send>(&action)) {
        asked.push_back((*open_frame(send->frame))->message_id());
      }
    }
  };
  note_requests(coordinator_->handle(now_, Shutdown{.reason = "maintenance"}));
  note_requests(coordinator_->handle(now_, Shutdown{.reason = "maintenance"}));
  for (Token token = 1; token < 4; ++token) {  // answers all pending store requests
    coordinator_->handle(now_, Stored{.token = token, .status = {}});
  }
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_FALSE(coordinator_->idle());
  wire::FrameT ack = frame_with(wire::AckT());
  ack.session = session;
  ack.in_reply_to = asked[0];
  hear(1, ack);
  EXPECT_TRUE(coordinator_->idle());
}

TEST_F(CoordinatorAlone, RefusesOtherVersions) {
  wire::HelloT hello = hello_of("a", 7);
  hello.version_min = hello.version_max = wire::kProtocolVersionMax + 5;
  hear(1, first(hello));
  ASSERT_NE(refusal(), nullptr);
  EXPECT_EQ(refusal()->code, wire::RefusalCode::version);
  EXPECT_TRUE(refusal()->closes);
}

TEST_F(CoordinatorAlone, RefusesAnotherName) {
  hear(1, first(hello_of("a", 7)), "b");
  ASSERT_NE(refusal(), nullptr);
  EXPECT_EQ(refusal()->code, wire::RefusalCode::not_allowed);
}

TEST_F(CoordinatorAlone, RefusesATwinWhileTheFirstLives) {
  hear(1, first(hello_of("a", 7)));
  const std::uint64_t session = welcome()->session;
  hear(2, first(hello_of("a", 8)));
  ASSERT_NE(refusal(), nullptr);
  EXPECT_EQ(refusal()->code, wire::RefusalCode::duplicate_agent);
  EXPECT_GT(refusal()->retry_after_ms, 0u);
  // The first process answers the challenge, so the second one is refused.
  now_ += 1'000 * kNsPerMs;
  wire::HeartbeatT beat;
  beat.count = 1;
  beat.activity = wire::Activity::idle;
  wire::FrameT alive = frame_with(beat);
  alive.session = session;
  hear(1, alive);
  hear(2, first(hello_of("a", 8)));
  ASSERT_NE(refusal(), nullptr);
  // The first process stays silent, so the second one is welcomed.
  now_ += 1'000 * kNsPerMs;
  hear(2, first(hello_of("a", 8)));
  EXPECT_EQ(refusal(), nullptr);
  ASSERT_NE(welcome(), nullptr);
  EXPECT_EQ(coordinator_->agents()[0].incarnation, 8u);
}

TEST_F(CoordinatorAlone, RefusesForeignSessionsAndReplays) {
  hear(1, first(hello_of("a", 7)));
  const std::uint64_t session = welcome()->session;
  wire::LeaveT leave;
  leave.reason = wire::LeaveReason::shutdown;
  wire::FrameT frame = frame_with(leave);
  frame.session = session + 1;
  frame.message_id = 1;
  hear(1, frame);
  EXPECT_TRUE(has_reason("wrong_session"));
  frame.session = session;
  hear(2, frame);  // over another connection
  EXPECT_TRUE(has_reason("wrong_session"));
  EXPECT_EQ(coordinator_->agents().size(), 1u);
  frame.message_id = 1'000'000;
  hear(1, frame);
  EXPECT_TRUE(has_reason("replayed"));
  EXPECT_EQ(coordinator_->agents().size(), 1u);
}

TEST_F(CoordinatorAlone, RefusesNoiseAndMessagesOfACoordinator) {
  hear(1, Bytes(100, std::uint8_t{0x5a}));
  EXPECT_TRUE(has_reason("corrupt_data"));
  EXPECT_TRUE(answers_.empty());
  hear(1, first(hello_of("a", 7)));
  wire::JobChangeT change;
  change.job = 1;
  change.revision = 1;
  change.change = 1;
  change.state = wire::JobState::stopped;
  wire::FrameT frame = frame_with(change);
  frame.session = welcome()->session;
  frame.message_id = 1;
  hear(1, frame);
  EXPECT_TRUE(has_reason("not_allowed"));
}

TEST_F(CoordinatorAlone, LosesSilentAgents) {
  hear(1, first(hello_of("a", 7)));
  now_ += 5'000 * kNsPerMs;
  for (const Action& action : coordinator_->handle(now_, Tick{})) {
    const auto* close = std::get_if<ClosePeer>(&action);
    if (close) {
      EXPECT_EQ(close->peer, 1u);
    }
  }
  EXPECT_TRUE(coordinator_->agents().empty());
}

TEST_F(CoordinatorAlone, RefusesJobsThatMakeNoSense) {
  SubmitJob submit;
  submit.command = 3;
  submit.definition.name = "no layers";
  Status status;
  for (const Action& action : coordinator_->handle(now_, submit)) {
    if (const auto* done = std::get_if<CommandDone>(&action)) status = done->status;
  }
  EXPECT_FALSE(status.ok());
}

}  // namespace
}  // namespace tributary
