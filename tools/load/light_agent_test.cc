// Tests of the agent that `tributary load` runs many times in one process.
#include "tools/load/light_agent.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/round/common/plan/small_job_testing.h"
#include "core/round/coordinator/coordinator.h"
#include "schemas/frame.h"
#include "schemas/payload.h"

namespace tributary {
namespace {

constexpr std::uint32_t kLightAgents = 3;
constexpr std::uint64_t kLightRounds = 4;
constexpr TimeNs kMessageNs = kNsPerMs / 10;

// The coordinator's state machine and light agents that share a replica. Messages arrive in order,
// each shortly after the previous one. Records count as stored at once.
class LightFederation {
 public:
  LightFederation(const std::string& codec, std::uint64_t bucket_values)
      : shared_(std::make_shared<SharedReplica>(round_testing::kSmallValues, kLightAgents)) {
    auto made = Coordinator::make({}, {});
    EXPECT_TRUE(made.ok()) << made.status().text();
    coordinator_ = *std::move(made);
    SubmitJob submit{
        .command = 1,
        .definition = round_testing::small_job(),
        .policy = {.codec = codec,
                   .bucket_values_max = bucket_values,
                   .agents_min = kLightAgents,
                   .quorum_fraction = 1},
        .model = std::make_shared<const FloatVector>(round_testing::kSmallValues, 0.5f)};
    submit.definition.job = 0;
    submit.definition.revision = 0;
    submit.definition.rounds = kLightRounds;
    act(submit);
    for (std::uint32_t i = 0; i < kLightAgents; ++i) {
      AgentConfig config;
      config.agent_id = "light-" + std::to_string(i);
      config.incarnation = i + 1;
      seats_.push_back({.agent = std::make_unique<LightAgent>(LightAgent::Options{
                            .config = std::move(config), .number = i, .shared = shared_})});
      connect(i);
    }
  }

  LightAgent& agent(std::uint32_t i) { return *seats_[i].agent; }
  Coordinator& coordinator() { return *coordinator_; }
  int sessions_lost(std::uint32_t i) const { return seats_[i].sessions_lost; }
  // Opens a new connection; messages in flight on the old one are lost.
  void break_session(std::uint32_t i) {
    act(PeerDisconnected{.peer = seats_[i].peer});
    seats_[i].peer = 0;
    act(i, PeerDisconnected{});
    connect(i);
  }
  // Changes a message to an agent.
  std::function<void(std::uint32_t agent, Send&)> twist;
  // Called with the number of delivered messages.
  std::function<void(int)> meanwhile;

  // Returns true once every agent has every round.
  bool run() {
    for (int i = 0; i < 100'000; ++i) {
      if (meanwhile) meanwhile(i);
      const bool done = std::ranges::all_of(seats_, [](const Seat& seat) {
        return seat.agent->model_version() >= kLightRounds && seat.agent->idle();
      });
      if (done) return true;
      for (const Seat& seat : seats_) {
        if (!seat.end.ok()) return false;
      }
      step();
    }
    return false;
  }
  Status end_of(std::uint32_t i) const { return seats_[i].end; }

 private:
  struct Seat {
    std::unique_ptr<LightAgent> agent;
    PeerId peer = 0;
    int sessions_lost = 0;
    Status end = {};
  };
  struct Message {
    std::uint32_t agent = 0;
    PeerId peer = 0;  // the agent's connection
    bool up = false;
    Send send;
  };

  void connect(std::uint32_t i) {
    seats_[i].peer = ++last_peer_;
    act(i, PeerConnected{});
  }

  void step() {
    if (messages_.empty()) {
      TimeNs due = coordinator_->next_wakeup_ns();
      for (const Seat& seat : seats_) due = std::min(due, seat.agent->next_wakeup_ns());
      now_ = std::max(now_, due);
      act(Tick{});
      for (std::uint32_t i = 0; i < kLightAgents; ++i) act(i, Tick{});
      return;
    }
    now_ += kMessageNs;
    Message message = std::move(messages_.front());
    messages_.pop_front();
    if (message.peer != seats_[message.agent].peer) return;
    if (!message.up && twist) twist(message.agent, message.send);
    const FrameReceived event{.peer = message.peer,
                              .frame = message.send.frame,
                              .payload = message.send.payload.bytes,
                              .authenticated_as = {}};
    if (message.up) return act(event);
    act(message.agent, event);
  }

  void act(const Event& event) {
    std::vector<Token> stored;
    for (Action& action : coordinator_->handle(now_, event)) {
      if (auto* send = std::get_if<Send>(&action)) {
        const auto seat = std::ranges::find(seats_, send->peer, &Seat::peer);
        if (seat == seats_.end()) continue;
        const auto agent = static_cast<std::uint32_t>(seat - seats_.begin());
        messages_.push_back(
            {.agent = agent, .peer = send->peer, .up = false, .send = std::move(*send)});
      } else if (const auto* store = std::get_if<StoreCoordinator>(&action)) {
        stored.push_back(store->token);
      }
    }
    for (const Token token : stored) act(Stored{.token = token, .status = {}});
  }

  void act(std::uint32_t i, const Event& event) {
    Seat& seat = seats_[i];
    for (Action& action : seat.agent->handle(now_, event)) {
      if (auto* send = std::get_if<Send>(&action)) {
        messages_.push_back({.agent = i, .peer = seat.peer, .up = true, .send = std::move(*send)});
      } else if (const auto* note = std::get_if<Note>(&action)) {
        if (note->name == "session_lost") ++seat.sessions_lost;
      } else if (const auto* finished = std::get_if<Finished>(&action)) {
        seat.end = finished->status;
      }
    }
  }

  TimeNs now_ = 0;
  PeerId last_peer_ = 0;
  std::shared_ptr<SharedReplica> shared_;
  std::unique_ptr<Coordinator> coordinator_;
  std::vector<Seat> seats_;
  std::deque<Message> messages_;
};

void expect_one_model(LightFederation& federation) {
  EXPECT_EQ(federation.coordinator().model_version(), kLightRounds);
  for (std::uint32_t i = 0; i < kLightAgents; ++i) {
    EXPECT_EQ(federation.agent(i).model_hash(), federation.coordinator().model_hash())
        << "agent " << i;
  }
}

// The light agents and the coordinator agree on every model, for codecs of each kind.
TEST(LightAgent, PlaysEveryRoundOfAnyCodec) {
  for (const char* codec : {"fp32", "thc:bits=4", "topk:cr=0.1", "qsgd:bits=4", "onebit"}) {
    LightFederation federation(codec, 64);
    ASSERT_TRUE(federation.run()) << codec;
    expect_one_model(federation);
    for (std::uint32_t i = 0; i < kLightAgents; ++i)
      EXPECT_EQ(federation.sessions_lost(i), 0) << codec;
  }
}

// The session breaks at any message: greeting, model, plan, payload, aggregate or commit.
TEST(LightAgent, ContinuesInAnotherSession) {
  int lost = 0;
  bool reached = true;
  for (int at = 1; reached; at += 7) {
    LightFederation federation("thc:bits=4", 64);
    reached = false;
    federation.meanwhile = [&](int messages) {
      if (messages != at) return;
      reached = true;
      federation.break_session(1);
    };
    ASSERT_TRUE(federation.run()) << "after " << at << " messages";
    expect_one_model(federation);
    lost += federation.sessions_lost(1);
    EXPECT_EQ(federation.sessions_lost(0), 0);
  }
  EXPECT_GT(lost, 10);
}

// Its checksum is valid, so only the comparison with other agents' bytes detects it.
TEST(LightAgent, EndsWhenItIsSentAnotherAggregateThanTheOthers) {
  LightFederation federation("fp32", 64);
  federation.twist = [](std::uint32_t agent, Send& send) {
    if (agent != 2) return;
    const Result<const wire::Frame*> opened = open_frame(send.frame);
    if (!opened.ok() || !(*opened)->message_as_Aggregate()) return;
    auto other = std::make_shared<Bytes>(send.payload.bytes.begin(), send.payload.bytes.end());
    other->back() = static_cast<std::uint8_t>(other->back() ^ 1u);
    wire::FrameT changed;
    (*opened)->UnPackTo(&changed);
    const PayloadClaim claim = claim_for(*other);
    changed.message.AsAggregate()->part->payload_checksum = claim.checksum;
    Result<Bytes> frame = build_frame(changed);
    ASSERT_TRUE(frame.ok()) << frame.status().text();
    send.frame = *std::move(frame);
    send.payload = {.owner = other, .bytes = *other};
  };
  EXPECT_FALSE(federation.run());
  EXPECT_EQ(federation.end_of(2).code(), StatusCode::mismatch);
}

}  // namespace
}  // namespace tributary
