// Tests of the connection of an agent: hello, heartbeats, refusals, and giving up a connection
// without an answer. The clock is a number that the test advances; nothing is sent.
#include "core/round/agent/agent_connection.h"

#include <algorithm>
#include <memory>

#include "core/round/agent/agent.h"
#include "core/round/agent/replica/agent_parts_testing.h"
#include "core/round/common/session/conversation.h"

namespace tributary {
namespace {

// A whole agent whose connection delivers no answer.
class AgentConnectionTest : public testing::Test {
 protected:
  void SetUp() override {
    AgentConfig config;
    config.agent_id = "a";
    Result<std::unique_ptr<Agent>> made = Agent::make(config, {});
    ASSERT_TRUE(made.ok()) << made.status().text();
    agent_ = *std::move(made);
    give_up_after_ns_ = config.give_up_after_ms * kNsPerMs;
  }

  void handle(const Event& event) {
    for (const Action& action : agent_->handle(now_, event)) {
      hellos_ += std::holds_alternative<Send>(action) ? 1 : 0;
      given_up_ += std::holds_alternative<ClosePeer>(action) ? 1 : 0;
    }
  }
  // Time passes, with Ticks as the agent requests them.
  void pass(TimeNs time) {
    for (const TimeNs end = now_ + time; now_ < end;) {
      now_ = std::clamp(agent_->next_wakeup_ns(), now_ + 1, end);
      handle(Tick{});
    }
  }

  std::unique_ptr<Agent> agent_;
  TimeNs now_ = 1'000'000 * kNsPerMs;
  TimeNs give_up_after_ns_ = 0;
  int hellos_ = 0;
  int given_up_ = 0;
};

TEST_F(AgentConnectionTest, AConnectionWithoutAnAnswerIsGivenUp) {
  handle(PeerConnected{});
  pass(give_up_after_ns_ / 2);
  EXPECT_GT(hellos_, 3);
  EXPECT_EQ(given_up_, 0);
  pass(give_up_after_ns_);
  EXPECT_EQ(given_up_, 1);
  pass(4 * give_up_after_ns_);
  EXPECT_EQ(given_up_, 1) << "there is none any more";
  handle(PeerDisconnected{});
  handle(PeerConnected{});
  pass(give_up_after_ns_ / 2);
  EXPECT_EQ(given_up_, 1) << "the next one gets as much time";
  pass(give_up_after_ns_);
  EXPECT_EQ(given_up_, 2);
}

TEST_F(AgentConnectionTest, AnyMessageKeepsTheConnection) {
  handle(PeerConnected{});
  const Result<Bytes> frame =
      build_frame(frame_with(refusal_of(wire::RefusalCode::busy, Fault{.what = "hello"})));
  ASSERT_TRUE(frame.ok()) << frame.status().text();
  for (int i = 0; i < 8; ++i) {
    pass(give_up_after_ns_ / 2);
    handle(FrameReceived{.peer = 1, .frame = frame.value(), .payload = {}, .authenticated_as = {}});
  }
  EXPECT_EQ(given_up_, 0);
}

TEST_F(AgentConnectionTest, WithoutAConnectionNothingIsClosed) {
  pass(4 * give_up_after_ns_);
  EXPECT_GT(hellos_, 3);
  EXPECT_EQ(given_up_, 0);
}

// The connection without the rest of the agent.
class SomeConnection : public testing::Test {
 protected:
  using Change = AgentConnection::Change;

  void hello() { connection_.send_hello(std::make_unique<wire::CapabilitiesT>(), nullptr); }
  Change receive(wire::FrameT frame, std::uint64_t session, std::uint64_t in_reply_to) {
    frame.session = session;
    frame.in_reply_to = in_reply_to;
    const Result<Bytes> bytes = build_frame(frame);
    EXPECT_TRUE(bytes.ok()) << bytes.status().text();
    Bytes aligned;
    return connection_
        .receive({.peer = 1, .frame = *bytes, .payload = {}, .authenticated_as = {}}, aligned)
        .change;
  }
  Change welcome(std::uint64_t in_reply_to) {
    wire::WelcomeT welcome;
    welcome.version = wire::kProtocolVersionMax;
    welcome.heartbeat_interval_ms = 100;
    welcome.heartbeat_timeout_ms = 1'000;
    welcome.ack_timeout_ms = 100;
    welcome.limits = std::make_unique<wire::LimitsT>();
    welcome.limits->frame_bytes_max = 1024;
    welcome.limits->payload_bytes_max = 1024;
    welcome.limits->payloads_in_flight_max = 1;
    return receive(frame_with(std::move(welcome)), round_testing::kSession, in_reply_to);
  }
  Change refuse(wire::RefusalCode code, std::uint32_t retry_after_ms) {
    wire::RefusalT refusal = refusal_of(code, Fault{.what = "hello"});
    refusal.retry_after_ms = retry_after_ms;
    return receive(frame_with(std::move(refusal)), 0, 1);
  }

  round_testing::AgentParts agent_;
  AgentConnection connection_{agent_.context, agent_.session};
};

TEST_F(SomeConnection, OpensTheSessionByTheAnswerToItsHello) {
  EXPECT_TRUE(connection_.hello_due());
  hello();
  EXPECT_FALSE(connection_.hello_due());
  EXPECT_EQ(welcome(7), Change::none) << "the answer to another Hello";
  EXPECT_FALSE(agent_.session.is_open());
  EXPECT_EQ(welcome(1), Change::session_opened);
  EXPECT_TRUE(agent_.session.is_open(round_testing::kSession));
}

TEST_F(SomeConnection, BeginsAgainWhenTheSessionIsLost) {
  hello();
  ASSERT_EQ(welcome(1), Change::session_opened);
  agent_.context.now += 1'000 * kNsPerMs;
  EXPECT_EQ(connection_.maintain_session(wire::Activity::idle, {}), Change::session_lost);
  EXPECT_FALSE(agent_.session.is_open());
  EXPECT_TRUE(connection_.hello_due());
  EXPECT_EQ(connection_.disconnected(), Change::none) << "it is offline already";
}

TEST_F(SomeConnection, SendsHeartbeatsWhileTheSessionIsOpen) {
  hello();
  EXPECT_EQ(connection_.maintain_session(wire::Activity::idle, {}), Change::none);
  ASSERT_EQ(welcome(1), Change::session_opened);
  agent_.take();
  agent_.context.now += 100 * kNsPerMs;
  EXPECT_EQ(connection_.maintain_session(wire::Activity::training, {}), Change::none);
  const auto beats = agent_.sent<wire::HeartbeatT>();
  ASSERT_EQ(beats.size(), 1u);
  EXPECT_EQ(beats[0].activity, wire::Activity::training);
}

TEST_F(SomeConnection, WaitsForTheTimeOfARefusalOrEnds) {
  hello();
  EXPECT_EQ(refuse(wire::RefusalCode::busy, 500), Change::none);
  EXPECT_EQ(connection_.next_due_ns(), agent_.context.now + 500 * kNsPerMs);
  EXPECT_FALSE(connection_.finished());
  connection_.connected();
  hello();
  agent_.take();
  wire::RefusalT forever = refusal_of(wire::RefusalCode::version, Fault{.what = "hello"});
  EXPECT_EQ(receive(frame_with(std::move(forever)), 0, 2), Change::none);
  EXPECT_TRUE(connection_.finished());
  EXPECT_EQ(round_testing::count<Finished>(agent_.take()), 1);
}

TEST_F(SomeConnection, SaysNoHelloOnceItShutsDown) {
  connection_.shut_down("test");
  EXPECT_FALSE(connection_.hello_due());
  EXPECT_EQ(connection_.next_due_ns(), kNever);
}

}  // namespace
}  // namespace tributary
