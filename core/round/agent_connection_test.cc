// An agent and its connection, where nobody answers on it.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "core/round/agent.h"
#include "core/round/conversation.h"

namespace tributary {
namespace {

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

  void tell(const Event& event) {
    for (const Action& action : agent_->handle(now_, event)) {
      hellos_ += std::holds_alternative<Send>(action) ? 1 : 0;
      given_up_ += std::holds_alternative<ClosePeer>(action) ? 1 : 0;
    }
  }
  // As its timer has it.
  void pass(TimeNs time) {
    for (const TimeNs end = now_ + time; now_ < end;) {
      now_ = std::clamp(agent_->next_wakeup_ns(), now_ + 1, end);
      tell(Tick{});
    }
  }

  std::unique_ptr<Agent> agent_;
  TimeNs now_ = 1'000'000 * kNsPerMs;
  TimeNs give_up_after_ns_ = 0;
  int hellos_ = 0;
  int given_up_ = 0;
};

TEST_F(AgentConnectionTest, AConnectionOnWhichNobodyAnswersIsGivenUp) {
  tell(PeerConnected{});
  pass(give_up_after_ns_ / 2);
  EXPECT_GT(hellos_, 3);
  EXPECT_EQ(given_up_, 0);
  pass(give_up_after_ns_);
  EXPECT_EQ(given_up_, 1);
  pass(4 * give_up_after_ns_);
  EXPECT_EQ(given_up_, 1) << "there is none any more";
  tell(PeerDisconnected{});
  tell(PeerConnected{});
  pass(give_up_after_ns_ / 2);
  EXPECT_EQ(given_up_, 1) << "the next one gets as much time";
  pass(give_up_after_ns_);
  EXPECT_EQ(given_up_, 2);
}

TEST_F(AgentConnectionTest, WhereAnythingIsHeardItIsKept) {
  tell(PeerConnected{});
  const Result<Bytes> frame =
      build_frame(frame_with(refusal_of(wire::RefusalCode::busy, Fault{.what = "hello"})));
  ASSERT_TRUE(frame.ok()) << frame.status().text();
  for (int i = 0; i < 8; ++i) {
    pass(give_up_after_ns_ / 2);
    tell(FrameReceived{.peer = 1, .frame = frame.value(), .payload = {}, .authenticated_as = {}});
  }
  EXPECT_EQ(given_up_, 0);
}

TEST_F(AgentConnectionTest, WithoutAConnectionThereIsNothingToGiveUp) {
  pass(4 * give_up_after_ns_);
  EXPECT_GT(hellos_, 3);
  EXPECT_EQ(given_up_, 0);
}

}  // namespace
}  // namespace tributary
