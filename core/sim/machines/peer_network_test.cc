// Tests of the simulated connections among agents: order, waiting messages, breaks and partitions.
#include "core/sim/machines/peer_network.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tributary {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr TimeNs kSecond = 1'000'000'000;

Scenario three_agents() {
  Scenario scenario;
  scenario.agents = 3;
  scenario.job.policy.collective = wire::Collective::ring;
  return scenario;
}

// Three agents that record the events that they receive.
class PeerConnections : public testing::Test {
 protected:
  struct Got {
    std::uint64_t session = 0;
    std::uint32_t from = 0;
    int number = 0;
    bool lost = false;
    friend bool operator==(const Got&, const Got&) = default;
  };

  PeerConnections()
      : scenario_(three_agents()), sim_(scenario_, 1, Mutation::none), network_(sim_) {
    sim_.faulty = false;  // both ends learn of a break soon
    std::vector<PeerNetwork::Handler> agents;
    for (std::uint32_t i = 0; i < 3; ++i) {
      agents.emplace_back([this, i](const Event& event) { take(i, event); });
    }
    network_.attach(std::move(agents));
  }

  void take(std::uint32_t agent, const Event& event) {
    if (const auto* const lost = std::get_if<PeerLost>(&event)) {
      got_[agent].push_back({.session = lost->session, .from = lost->member, .lost = true});
    } else if (const auto* const mail = std::get_if<PeerFrameReceived>(&event)) {
      got_[agent].push_back(
          {.session = mail->session, .from = mail->from, .number = mail->frame[0]});
      payloads_.push_back(mail->payload.view().size());
    }
  }
  // The members' order differs from the agents' order.
  void open(std::uint32_t agent, std::uint64_t session = 7) {
    OpenPeers open{.session = session, .member = 2 - agent, .members = {}};
    for (const std::uint32_t other : {2u, 1u, 0u}) {
      open.members.push_back({.public_key = {}, .endpoint = PeerNetwork::endpoint(other)});
    }
    network_.open(agent, open);
  }
  void send(std::uint32_t from, std::uint32_t to, int number, std::size_t bytes = 10) {
    network_.send(from, {.member = 2 - to,
                         .frame = Bytes(4, static_cast<std::uint8_t>(number)),
                         .payload = SharedSlice(Bytes(bytes, std::uint8_t{1}))});
  }
  // Runs the simulation for this long.
  void play(TimeNs for_ns) {
    const TimeNs end = sim_.now() + for_ns;
    while (!sim_.queue.empty() && sim_.queue.next_at_ns() <= end) sim_.queue.run_next();
    sim_.queue.after(end - sim_.now(), [] {});
    sim_.queue.run_next();
  }
  std::vector<int> numbers(std::uint32_t agent) const {
    std::vector<int> all;
    for (const Got& got : got_[agent]) {
      if (!got.lost) all.push_back(got.number);
    }
    return all;
  }
  std::vector<std::uint32_t> lost(std::uint32_t agent) const {
    std::vector<std::uint32_t> all;
    for (const Got& got : got_[agent]) {
      if (got.lost) all.push_back(got.from);
    }
    return all;
  }

  Scenario scenario_;
  SimulationContext sim_;
  PeerNetwork network_;
  std::vector<std::vector<Got>> got_{3};
  std::vector<std::size_t> payloads_;
};

// Later messages are shorter and would be faster alone. Agent 0 is member 2.
TEST_F(PeerConnections, MessagesArriveInOrderWithTheirSender) {
  for (std::uint32_t agent = 0; agent < 3; ++agent) open(agent);
  for (int i = 0; i < 50; ++i) send(0, 1, i, static_cast<std::size_t>(1000 * (50 - i)));
  play(kSecond);
  ASSERT_THAT(got_[1], SizeIs(50));
  EXPECT_TRUE(std::ranges::is_sorted(numbers(1)));
  EXPECT_EQ(got_[1][0], (Got{.session = 7, .from = 2, .number = 0}));
  EXPECT_EQ(payloads_[0], 50'000u);
  EXPECT_THAT(got_[2], IsEmpty());
  EXPECT_EQ(network_.under_way_max(), 50u);
}

// A break before there is a connection has no effect.
TEST_F(PeerConnections, OneThatIsBrokenLeavesTheOthers) {
  EXPECT_EQ(network_.agent_of(0, 1), std::nullopt) << "no session yet";
  network_.break_between(0, 1);
  for (std::uint32_t agent = 0; agent < 3; ++agent) open(agent);
  EXPECT_EQ(network_.agent_of(0, 0), 2u);
  EXPECT_EQ(network_.agent_of(0, 3), std::nullopt);
  play(kSecond);
  network_.break_between(0, 1);
  send(0, 1, 1);
  send(0, 2, 2);
  play(kSecond);
  EXPECT_THAT(lost(0), ElementsAre(1u));
  EXPECT_THAT(lost(1), ElementsAre(2u));
  EXPECT_THAT(numbers(1), IsEmpty());
  EXPECT_THAT(numbers(2), ElementsAre(2));
  EXPECT_THAT(lost(2), IsEmpty());
}

// Members open a session at different times.
TEST_F(PeerConnections, MessagesWaitInOrderUntilTheSessionOpens) {
  open(0);
  for (int i = 0; i < 5; ++i) send(0, 1, i);
  play(kSecond);
  EXPECT_THAT(numbers(1), IsEmpty());
  open(1);
  for (int i = 5; i < 8; ++i) send(0, 1, i);
  play(kSecond);
  EXPECT_THAT(numbers(1), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

// Within ten seconds; the member that opens too late finds itself alone.
TEST_F(PeerConnections, AMissingMemberIsGivenUp) {
  open(0);
  open(1);
  play(10 * kSecond);
  EXPECT_THAT(lost(0), ElementsAre(0u));
  EXPECT_THAT(lost(1), ElementsAre(0u));
  open(2);
  send(0, 2, 1);
  play(kSecond);
  EXPECT_THAT(numbers(2), IsEmpty());
  EXPECT_THAT(lost(2), testing::UnorderedElementsAre(1u, 2u));
}

// A connection is never mended, only replaced in the next session.
TEST_F(PeerConnections, ABrokenConnectionDeliversNothingMoreInItsSession) {
  for (std::uint32_t agent = 0; agent < 3; ++agent) open(agent);
  play(kSecond);
  network_.break_some(100);
  EXPECT_EQ(sim_.tally.counts().at("peer_break"), 3u);
  play(kSecond);
  for (std::uint32_t agent = 0; agent < 3; ++agent) EXPECT_THAT(lost(agent), SizeIs(2));
  send(0, 1, 1);
  play(kSecond);
  EXPECT_THAT(numbers(1), IsEmpty());
  open(0, 8);
  open(1, 8);
  send(0, 1, 2);
  play(kSecond);
  EXPECT_THAT(numbers(1), ElementsAre(2));
}

// A restarted agent that got messages for its predecessor would mix two processes in one exchange.
TEST_F(PeerConnections, AMemberThatEndsIsLostToTheOthersAndItsMailDoesNotReachTheNextProcess) {
  for (std::uint32_t agent = 0; agent < 3; ++agent) open(agent);
  play(kSecond);
  send(1, 0, 1);
  network_.close(0);
  play(kSecond);
  EXPECT_THAT(lost(1), ElementsAre(2u));
  EXPECT_THAT(lost(2), ElementsAre(2u));
  EXPECT_THAT(got_[0], IsEmpty());
  open(0);  // the same session again
  send(1, 0, 2);
  play(kSecond);
  EXPECT_THAT(numbers(0), IsEmpty());
  EXPECT_THAT(lost(0), SizeIs(2));
}

// TCP survives a short partition or gives up; both happen in 20 attempts.
TEST_F(PeerConnections, APartitionDelaysMessagesUntilItsEnd) {
  for (int attempt = 0; attempt < 20; ++attempt) {
    const auto session = static_cast<std::uint64_t>(100 + attempt);
    for (std::uint32_t agent = 0; agent < 3; ++agent) open(agent, session);
    got_.assign(3, {});
    network_.cut_off({1}, sim_.now() + kSecond);
    send(0, 1, 1);
    send(0, 2, 2);
    play(kSecond / 2);
    EXPECT_THAT(numbers(2), ElementsAre(2)) << "the others have nothing to do with it";
    EXPECT_THAT(numbers(1), IsEmpty());
    play(kSecond);
    // Either the connection survived, or both ends know that it is lost.
    const std::vector<std::uint32_t> gone = lost(0);
    EXPECT_EQ(numbers(1).empty(), std::ranges::count(gone, 1u) == 1);
  }
  const std::uint64_t cut = sim_.tally.counts().at("peer_cut");
  EXPECT_GT(cut, 0u);
  EXPECT_LT(cut, 40u);
}

// 59 sessions with breaks and ends at different moments.
TEST_F(PeerConnections, ALostMemberDeliversNothing) {
  for (std::uint64_t session = 1; session < 60; ++session) {
    for (std::uint32_t agent = 0; agent < 3; ++agent) open(agent, session);
    for (int i = 0; i < 20; ++i) send(0, 1, i, 20'000);
    if (session % 2 == 0) {
      network_.close(0);
    } else {
      network_.break_some(3);
    }
    play(kSecond);
  }
  for (std::size_t i = 0; i < got_[1].size(); ++i) {
    if (!got_[1][i].lost) continue;
    for (std::size_t k = i + 1; k < got_[1].size(); ++k) {
      EXPECT_FALSE(!got_[1][k].lost && got_[1][k].session == got_[1][i].session &&
                   got_[1][k].from == got_[1][i].from);
    }
  }
  EXPECT_THAT(numbers(1), testing::Not(IsEmpty())) << "some of what was sent before still comes";
  EXPECT_LT(numbers(1).size(), 59u * 20);
}

// The network delivers it; a checksum of the receiver has to notice.
TEST_F(PeerConnections, ALieIsOneBitAndTheReceiverGetsIt) {
  for (std::uint32_t agent = 0; agent < 3; ++agent) open(agent);
  network_.let_lie(0, 1);
  network_.send(0, {.member = 1, .frame = Bytes(4, std::uint8_t{0}), .payload = {}});
  network_.send(0, {.member = 1, .frame = Bytes(4, std::uint8_t{0}), .payload = {}});
  play(kSecond);
  EXPECT_THAT(numbers(1), SizeIs(2));
  EXPECT_EQ(sim_.tally.counts().at("lying_peer"), 1u);
}

// Half-open connections: each break has two ends, and each end is either told or counted as half
// open.
TEST_F(PeerConnections, SomeEndsAreNeverNotified) {
  std::size_t noticed = 0;
  for (std::uint64_t session = 1; session < 40; ++session) {
    sim_.faulty = false;
    for (std::uint32_t agent = 0; agent < 3; ++agent) open(agent, session);
    play(kSecond);
    got_.assign(3, {});
    sim_.faulty = true;
    network_.break_some(1);
    play(5 * kSecond);
    noticed += lost(0).size() + lost(1).size() + lost(2).size();
  }
  EXPECT_GT(sim_.tally.counts().at("half_open"), 0u);
  EXPECT_GT(noticed, 39u);
  EXPECT_EQ(noticed + sim_.tally.counts().at("half_open"), 2u * 39);
}

}  // namespace
}  // namespace tributary
