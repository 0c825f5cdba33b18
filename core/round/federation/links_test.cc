// Probes, their echoes, and the agents' measurements of links, with one coordinator and agents
// whose messages the test delivers itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/link_quality/echo_allowance.h"
#include "core/round/agent/agent.h"
#include "core/round/common/machine/probe_padding.h"
#include "core/round/common/session/conversation.h"
#include "core/round/coordinator/coordinator.h"
#include "schemas/frame.h"
#include "schemas/payload.h"

namespace tributary {
namespace {

struct Letter {
  Bytes frame;
  Bytes payload;
};

Letter letter_of(const Send& send) {
  return {.frame = send.frame,
          .payload = Bytes(send.payload.bytes.begin(), send.payload.bytes.end())};
}

// One coordinator and two agents, connected by queues that the test delivers.
class RoundLinks : public testing::Test {
 protected:
  RoundLinks() {
    Result<std::unique_ptr<Coordinator>> made = Coordinator::make({}, {});
    EXPECT_TRUE(made.ok());
    coordinator_ = std::move(*made);
    join(1);
    join(2);
  }

  void join(PeerId peer) {
    AgentConfig config;
    config.agent_id = "agent-" + std::to_string(peer);
    config.incarnation = peer + 100 * ++greetings_;
    for (const char* family : {"fp32", "thc"}) {
      config.capabilities.codecs.push_back(std::make_unique<wire::CodecOfferT>());
      config.capabilities.codecs.back()->spec = family;
    }
    Result<std::unique_ptr<Agent>> made = Agent::make(config, {});
    ASSERT_TRUE(made.ok());
    agents_[peer] = std::move(*made);
    feed_agent(peer, PeerConnected{});
    deliver();
    ASSERT_TRUE(agents_[peer]->connected());
  }

  void feed_agent(PeerId peer, const Event& event) {
    for (const Action& action : agents_.at(peer)->handle(now_, event)) {
      if (const auto* send = std::get_if<Send>(&action)) {
        up_.emplace_back(peer, letter_of(*send));
        sessions_[peer] = (*open_frame(send->frame))->session();
      }
      if (const auto* note = std::get_if<Note>(&action)) noted_.emplace_back(note->reason);
    }
  }
  void feed_coordinator(const Event& event) {
    for (const Action& action : coordinator_->handle(now_, event)) {
      if (const auto* send = std::get_if<Send>(&action)) {
        down_.emplace_back(send->peer, letter_of(*send));
      }
      if (const auto* note = std::get_if<Note>(&action)) noted_.emplace_back(note->reason);
      if (const auto* echo = std::get_if<ProbeEchoed>(&action)) echoes_.push_back(*echo);
      if (const auto* reported = std::get_if<LinksReported>(&action))
        links_reported_.push_back(*reported);
      if (const auto* speeds = std::get_if<SpeedsReported>(&action)) speeds_.push_back(*speeds);
      if (const auto* store = std::get_if<StoreCoordinator>(&action))
        stored_.push_back(store->token);
    }
    while (!stored_.empty()) {
      const Token token = stored_.front();
      stored_.pop_front();
      feed_coordinator(Stored{.token = token, .status = {}});
    }
  }
  void hear(PeerId peer, const Letter& letter, bool waited_for = true) {
    feed_coordinator(FrameReceived{.peer = peer,
                                   .frame = letter.frame,
                                   .payload = letter.payload,
                                   .authenticated_as = {},
                                   .waited_for = waited_for});
  }
  void deliver(bool waited_for = true) {
    while (!up_.empty() || !down_.empty()) {
      if (!down_.empty()) {
        const auto [peer, letter] = down_.front();
        down_.pop_front();
        feed_agent(peer, FrameReceived{.peer = 0,
                                       .frame = letter.frame,
                                       .payload = letter.payload,
                                       .authenticated_as = {},
                                       .waited_for = waited_for});
      } else {
        const auto [peer, letter] = up_.front();
        up_.pop_front();
        hear(peer, letter, waited_for);
      }
    }
  }
  // Includes heartbeats, because both sides would otherwise lose the session.
  void pass(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      now_ += 1'000 * kNsPerMs;
      feed_coordinator(Tick{});
      for (const auto& [peer, agent] : agents_) feed_agent(peer, Tick{});
      deliver();
    }
  }
  // The message as the agent would send it in its session.
  template <typename Message>
  Letter from_agent(PeerId peer, const Message& message, const Bytes& payload = {}) {
    pass(1);
    wire::FrameT frame = frame_with(Message(message));
    frame.session = sessions_.at(peer);
    Result<Bytes> bytes = build_frame(frame);
    EXPECT_TRUE(bytes.ok()) << bytes.status().text();
    return {.frame = *std::move(bytes), .payload = payload};
  }
  bool noted(std::string_view reason) const {
    return std::ranges::find(noted_, reason) != noted_.end();
  }

  TimeNs now_ = 1'000 * kNsPerMs;
  std::unique_ptr<Coordinator> coordinator_;
  std::map<PeerId, std::unique_ptr<Agent>> agents_;
  std::deque<std::pair<PeerId, Letter>> up_;
  std::deque<std::pair<PeerId, Letter>> down_;
  std::deque<Token> stored_;
  std::map<PeerId, std::uint64_t> sessions_;
  std::vector<std::string> noted_;
  std::vector<ProbeEchoed> echoes_;
  std::vector<LinksReported> links_reported_;
  std::vector<SpeedsReported> speeds_;
  std::uint64_t greetings_ = 0;
};

TEST_F(RoundLinks, EveryPartIsEchoedWithTheTimesOfItsArrival) {
  feed_coordinator(ProbeLink{.agent_id = "agent-1", .probe = 9, .parts = 3, .padding_bytes = 1000});
  ASSERT_EQ(down_.size(), 3u);
  EXPECT_EQ(down_.front().second.payload.size(), 1000u);
  now_ += 5;
  deliver();
  ASSERT_EQ(echoes_.size(), 3u);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(echoes_[i].agent_id, "agent-1");
    EXPECT_EQ(echoes_[i].probe, 9u);
    EXPECT_EQ(echoes_[i].index, i);
    EXPECT_EQ(echoes_[i].count, 3u);
    EXPECT_LT(echoes_[i].bytes, 512u) << "LinkProber::kMessageBytes";
    EXPECT_EQ(echoes_[i].received_at_ns, static_cast<std::uint64_t>(now_));
    EXPECT_EQ(echoes_[i].answered_at_ns, static_cast<std::uint64_t>(now_));
    EXPECT_EQ(echoes_[i].at_ns, now_);
    EXPECT_TRUE(echoes_[i].waited_for);
  }
  EXPECT_TRUE(noted_.empty());
}

TEST_F(RoundLinks, AnEchoIsAsLongAsWasAskedForAndProbesAreNoPayload) {
  feed_coordinator(
      ProbeLink{.agent_id = "agent-2", .probe = 1, .parts = 2, .echo_padding_bytes = 5000});
  EXPECT_TRUE(down_.front().second.payload.empty());
  deliver();
  ASSERT_EQ(echoes_.size(), 2u);
  EXPECT_GT(echoes_[0].bytes, 5000u);
  EXPECT_LT(echoes_[0].bytes, 5512u);
  for (const auto& agent : coordinator_->agents()) EXPECT_EQ(agent.payload_bytes, 0u);
}

TEST_F(RoundLinks, QueuedPayloadsHaveNoTime) {
  feed_coordinator(ProbeLink{.agent_id = "agent-1", .probe = 1});
  deliver(false);
  ASSERT_EQ(echoes_.size(), 1u);
  EXPECT_EQ(echoes_[0].received_at_ns, 0u);
  EXPECT_GT(echoes_[0].answered_at_ns, 0u);
  EXPECT_FALSE(echoes_[0].waited_for);
}

TEST_F(RoundLinks, AnAbsentAgentIsNotProbed) {
  feed_coordinator(ProbeLink{.agent_id = "absent", .probe = 1});
  EXPECT_TRUE(down_.empty());
}

TEST_F(RoundLinks, AProbeIsNeverLongerThanItsCaps) {
  feed_coordinator(
      ProbeLink{.agent_id = "agent-1", .probe = 1, .parts = 1000, .padding_bytes = 1u << 30});
  EXPECT_EQ(down_.size(), kProbePartsMax);
  EXPECT_EQ(down_.front().second.payload.size(), kProbePaddingMax);
}

TEST_F(RoundLinks, AnAgentEchoesNoMoreThanItsAllowance) {
  constexpr std::uint32_t kEchoBytes = kProbePaddingMax;
  const auto ask = [&] {
    feed_coordinator(
        ProbeLink{.agent_id = "agent-1", .probe = 1, .parts = 8, .echo_padding_bytes = kEchoBytes});
    deliver();
  };
  ask();
  EXPECT_EQ(echoes_.size(), 8u);
  EXPECT_FALSE(noted("allowance"));
  for (int i = 0; i < 10; ++i) ask();
  EXPECT_EQ(echoes_.size(), 8u);
  EXPECT_TRUE(noted("allowance"));
  pass(static_cast<int>(2 * kEchoBytes / EchoAllowance::kBytesPerS));
  ask();
  EXPECT_LE(echoes_.size(), 11u);
  EXPECT_GT(echoes_.size(), 8u);
}

TEST_F(RoundLinks, AnAgentRefusesInvalidProbes) {
  feed_coordinator(ProbeLink{.agent_id = "agent-1", .probe = 1});
  Letter letter = down_.front().second;
  down_.clear();
  wire::FrameT frame;
  (*open_frame(letter.frame))->UnPackTo(&frame);
  const auto say = [&](auto change) {
    wire::FrameT bad = frame;
    change(*bad.message.AsLinkProbe());
    Result<Bytes> bytes = build_frame(bad);
    ASSERT_TRUE(bytes.ok()) << bytes.status().text();
    noted_.clear();
    feed_agent(1, FrameReceived{.frame = *bytes, .payload = {}, .authenticated_as = {}});
    EXPECT_TRUE(up_.empty());
  };
  say([](wire::LinkProbeT& probe) { probe.echo_payload_bytes = kProbePaddingMax + 1; });
  EXPECT_TRUE(noted("over_cap"));
  say([](wire::LinkProbeT& probe) { probe.count = kProbePartsMax + 1; });
  EXPECT_TRUE(noted("over_cap"));
  say([](wire::LinkProbeT& probe) { probe.kind = wire::ProbeKind::echo; });
  EXPECT_TRUE(noted("unsupported"));
  say([](wire::LinkProbeT& probe) {
    probe.kind = wire::ProbeKind::order;
    probe.endpoint = "tcp://192.0.2.1:1";
  });
  EXPECT_TRUE(noted("unsupported")) << "nobody sends an agent elsewhere";
}

TEST_F(RoundLinks, TheCoordinatorRefusesInvalidEchoes) {
  wire::LinkProbeT echo;
  echo.kind = wire::ProbeKind::probe;
  echo.probe = 1;
  echo.payload_checksum = claim_for({}).checksum;
  hear(1, from_agent(1, echo));
  EXPECT_TRUE(noted("unsupported")) << "a coordinator is not probed";
  echo.kind = wire::ProbeKind::echo;
  echo.count = kProbePartsMax + 1;
  noted_.clear();
  hear(1, from_agent(1, echo));
  EXPECT_TRUE(noted("over_cap"));
  echo.count = 1;
  const Bytes padding(kProbePaddingMax + 1, 7);
  echo.payload_bytes = static_cast<std::uint32_t>(padding.size());
  echo.payload_checksum = claim_for(padding).checksum;
  noted_.clear();
  hear(1, from_agent(1, echo, padding));
  EXPECT_TRUE(noted("over_cap"));
  EXPECT_TRUE(echoes_.empty());
}

// --- measurements of agents ----------------------------------------------------------------------

wire::LinkSampleT sample(const std::string& from, const std::string& to = {}) {
  wire::LinkSampleT link;
  link.from = from;
  link.to = to;
  link.method = wire::LinkMethod::passive;
  link.alpha_s = 0.5;
  link.confidence = 0.25f;
  link.age_ms = 17;
  return link;
}

TEST_F(RoundLinks, AnAgentReportsTheLinksFromItsPeers) {
  feed_agent(1, ReportLinks{.links = {sample("agent-2"), sample("gone")}});
  deliver();
  ASSERT_EQ(links_reported_.size(), 1u);
  EXPECT_EQ(links_reported_[0].agent_id, "agent-1");
  ASSERT_EQ(links_reported_[0].links.size(), 1u) << "of those who are here";
  EXPECT_EQ(links_reported_[0].links[0].from, "agent-2");
  EXPECT_EQ(links_reported_[0].links[0].to, "agent-1");
  EXPECT_EQ(links_reported_[0].links[0].alpha_s, 0.5);
  EXPECT_EQ(links_reported_[0].links[0].age_ms, 17u);
  EXPECT_TRUE(noted_.empty());
}

TEST_F(RoundLinks, ManyLinksFitOneMessageAndMoreAreLeftOut) {
  ReportLinks all;
  for (std::size_t i = 0; i < 2 * kLinksReportedMax; ++i) {
    all.links.push_back(sample(std::string(wire::kAgentIdBytesMax, 'x')));
  }
  all.links[0].from = "agent-2";
  feed_agent(1, all);
  ASSERT_EQ(up_.size(), 1u) << "the frame was built";
  deliver();
  EXPECT_EQ(links_reported_.size(), 1u);
}

TEST_F(RoundLinks, NoAgentReportsLinksOfOthersOrTooOften) {
  wire::TelemetryT telemetry;
  telemetry.links.push_back(std::make_unique<wire::LinkSampleT>(sample("agent-1", "agent-2")));
  hear(1, from_agent(1, telemetry));
  EXPECT_TRUE(noted("not_allowed"));
  EXPECT_TRUE(links_reported_.empty());
  telemetry.links[0] = std::make_unique<wire::LinkSampleT>(sample("agent-2", "agent-1"));
  const Letter good = from_agent(1, telemetry);
  hear(1, good);
  hear(1, good);
  EXPECT_EQ(links_reported_.size(), 1u);
  EXPECT_TRUE(noted("too_often"));
  for (std::size_t i = 0; i < kLinksReportedMax; ++i) {
    telemetry.links.push_back(std::make_unique<wire::LinkSampleT>(sample("agent-2", "agent-1")));
  }
  noted_.clear();
  hear(1, from_agent(1, telemetry));
  EXPECT_TRUE(noted("over_cap"));
  EXPECT_EQ(links_reported_.size(), 1u);
}

wire::CodecOfferT speed(const std::string& family, double bytes_per_s) {
  wire::CodecOfferT offer;
  offer.spec = family;
  offer.encode_bytes_per_s = offer.decode_bytes_per_s = bytes_per_s;
  return offer;
}

TEST_F(RoundLinks, AnAgentReportsTheSpeedOfItsDevice) {
  EXPECT_TRUE(speeds_.empty()) << "it has not measured anything yet";
  feed_agent(1,
             ReportSpeeds{.codecs = {speed("thc", 5e8), speed("a family it does not offer", 1)}});
  deliver();
  ASSERT_EQ(speeds_.size(), 1u);
  EXPECT_EQ(speeds_[0].agent_id, "agent-1");
  ASSERT_EQ(speeds_[0].codecs.size(), 1u);
  EXPECT_EQ(speeds_[0].codecs[0].spec, "thc");
  EXPECT_EQ(speeds_[0].codecs[0].encode_bytes_per_s, 5e8);
}

TEST_F(RoundLinks, MeasurementsBeforeTheHelloAreReportedWithIt) {
  feed_agent(1, ReportSpeeds{.codecs = {speed("fp32", 1e9)}});
  deliver();
  ASSERT_EQ(speeds_.size(), 1u);
  feed_coordinator(PeerDisconnected{.peer = 1});
  feed_agent(1, PeerDisconnected{});
  deliver();
  ASSERT_EQ(speeds_.size(), 2u);
  ASSERT_EQ(speeds_[1].codecs.size(), 1u) << "of the other one nothing is known";
  EXPECT_EQ(speeds_[1].codecs[0].spec, "fp32");
}

TEST_F(RoundLinks, MeasurementsAfterTheHelloAreReportedAfterTheWelcome) {
  feed_coordinator(PeerDisconnected{.peer = 1});
  feed_agent(1, PeerDisconnected{});
  feed_agent(1, ReportSpeeds{.codecs = {speed("fp32", 1e9)}});
  ASSERT_EQ(up_.size(), 1u) << "its Hello, which says nothing of it";
  deliver();
  ASSERT_EQ(speeds_.size(), 1u);
  EXPECT_EQ(speeds_[0].codecs[0].spec, "fp32");
}

TEST_F(RoundLinks, MoreSpeedsThanThereAreCodecsAreNotHandedOn) {
  wire::TelemetryT telemetry;
  for (std::size_t i = 0; i < 2 * kSpeedsReportedMax; ++i) {
    telemetry.codecs.push_back(std::make_unique<wire::CodecOfferT>(speed(std::to_string(i), 1)));
  }
  hear(1, from_agent(1, telemetry));
  ASSERT_EQ(speeds_.size(), 1u);
  EXPECT_EQ(speeds_[0].codecs.size(), kSpeedsReportedMax);
}

}  // namespace
}  // namespace tributary
