// Tests of the loop with a simulated link, a manual clock and a machine that records its events.
#include "core/service/loop/machine_loop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "core/base/log/memory_log_testing.h"
#include "core/service/metrics/metrics.h"

namespace tributary {
namespace {

// Accepts messages while it has room, and reports the test's events.
class FakeLink final : public Transport {
 public:
  Status send(ConnectionId to, SharedSlice frame, SharedSlice) override {
    if (to == 0) return no_connection();
    if (free_places == 0) return Status(StatusCode::resource_exhausted, {.what = "queue"});
    --free_places;
    sent.emplace_back(to, std::string(frame.view().begin(), frame.view().end()));
    return {};
  }
  Result<std::optional<LinkEvent>> receive(std::chrono::nanoseconds deadline) override {
    asked_until = deadline.count();
    if (events.empty() && deadline.count() > 0) events = std::exchange(later, {});
    if (events.empty()) return std::optional<LinkEvent>();
    std::optional<LinkEvent> event = std::move(events.front());
    events.erase(events.begin());
    return event;
  }
  void wake() override { ++woken; }
  void give_up(ConnectionId connection) override { given_up.push_back(connection); }
  bool encrypted() const override { return encrypts; }
  const LinkLimits& limits() const override { return limits_; }
  LinkCounters counters() const override { return {}; }
  std::size_t waiting_bytes() const override { return 0; }
  std::uint64_t bytes_arrived(ConnectionId connection) const override {
    ++looks;
    const auto found = arrived.find(connection);
    return found == arrived.end() ? 0 : found->second;
  }

  std::size_t free_places = 100;
  bool encrypts = false;
  std::vector<std::pair<ConnectionId, std::string>> sent;
  std::vector<ConnectionId> given_up;
  std::vector<LinkEvent> events;
  std::vector<LinkEvent> later;  // events that occur while the loop waits
  std::atomic<int> woken = 0;
  TimeNs asked_until = 0;
  std::map<ConnectionId, std::uint64_t> arrived;
  mutable int looks = 0;

 private:
  LinkLimits limits_;
};

// A message whose frame is this text.
Send message(PeerId peer, std::string_view text) {
  const ByteSpan bytes = bytes_of(text);
  return {.peer = peer, .frame = Bytes(bytes.begin(), bytes.end())};
}

// The machine answers each event with the actions in `answer`, once.
struct MachineLoopTest : ::testing::Test {
  MachineLoop make(bool one_peer = false, std::size_t posted_max = 100) {
    return MachineLoop({.handle = [this](TimeNs, const Event& event) { return handle(event); },
                        .next_wakeup_ns = [this] { return wakeup; },
                        .execute = [this](Action& action) { others.push_back(action.index()); },
                        .one_peer = one_peer,
                        .link = link,
                        .clock = clock,
                        .notes = notes,
                        .posted_max = posted_max});
  }
  Actions handle(const Event& event) {
    handled.push_back(event.index());
    if (const auto* received = std::get_if<FrameReceived>(&event)) {
      proven.assign(received->authenticated_key.begin(), received->authenticated_key.end());
      waited_for.push_back(received->waited_for);
    }
    if (const auto* peer = std::get_if<PeerAlive>(&event)) alive.push_back(peer->peer);
    if (const auto* received = std::get_if<PeerFrameReceived>(&event)) {
      seen_of_owner = *weak_owner.lock();
      EXPECT_TRUE(std::ranges::equal(received->frame, *seen_of_owner));
    }
    return std::exchange(answer, {});
  }
  // The index of an event type, as handle() records it.
  template <typename Kind>
  static std::size_t kind() {
    return Event(Kind{}).index();
  }
  static LinkEvent connected(ConnectionId connection) {
    return Connected{.connection = connection, .peer = {}};
  }
  static LinkEvent received(ConnectionId connection) {
    return Received{.connection = connection, .peer = {}, .frame = {7}, .payload = {}};
  }
  // Delivers all events of the link, advances the time by half a second, and returns the peers that
  // one check found alive.
  std::vector<PeerId> alive_after_a_look(MachineLoop& loop) {
    while (!link.events.empty()) EXPECT_TRUE(loop.turn(0).ok());
    clock.advance(std::chrono::milliseconds(500));
    EXPECT_TRUE(loop.turn(0).ok());
    std::ranges::sort(alive);
    return std::exchange(alive, {});
  }
  // All sent messages, each as the connection's number and its text.
  std::string texts() const {
    std::string all;
    for (const auto& [to, text] : link.sent) all += std::to_string(to) + text + " ";
    return all;
  }

  FakeLink link;
  ManualClock clock;
  MemoryLog log;
  std::unique_ptr<Metrics> metrics = *open_metrics("");
  NoteLog notes{log, clock, *metrics};
  TimeNs wakeup = INT64_MAX;
  Actions answer;
  std::vector<std::size_t> handled;
  std::vector<std::size_t> others;
  Bytes proven;
  std::vector<bool> waited_for;
  std::vector<PeerId> alive;
  std::weak_ptr<const Bytes> weak_owner;
  std::optional<Bytes> seen_of_owner;
};

// The wait ends at the machine's next wake-up, which comes before the caller's deadline.
TEST_F(MachineLoopTest, TicksComeWhenTheyAreDueAndNoWaitIsLonger) {
  MachineLoop loop = make();
  wakeup = 50;
  ASSERT_FALSE(*loop.turn(1'000));
  EXPECT_EQ(link.asked_until, 50);
  EXPECT_TRUE(handled.empty());
  clock.advance(std::chrono::nanoseconds(50));
  ASSERT_TRUE(*loop.turn(1'000));
  EXPECT_EQ(handled, std::vector<std::size_t>{kind<Tick>()});
}

// Other threads post; without wake() the loop would sleep on the link until a message arrived.
TEST_F(MachineLoopTest, PostedEventsWakeTheLinkAndAreFed) {
  MachineLoop loop = make();
  std::thread([&] { loop.post(Stored{.token = 1, .status = {}}); }).join();
  EXPECT_EQ(link.woken, 1);
  ASSERT_TRUE(*loop.turn(1'000));
  EXPECT_EQ(handled, std::vector<std::size_t>{kind<Stored>()});
}

// A machine that falls behind must not fill the memory. A daemon that ends is restarted, which an
// operator notices.
TEST_F(MachineLoopTest, OneEventTooManyEndsTheLoop) {
  MachineLoop loop = make(false, 2);
  for (int i = 0; i < 2; ++i) loop.post(Stored{.token = 1, .status = {}});
  ASSERT_TRUE(*loop.turn(1'000));  // as many as allowed
  for (int i = 0; i < 3; ++i) loop.post(Stored{.token = 1, .status = {}});
  EXPECT_EQ(link.woken, 5);
  for (int turns = 0; turns < 2; ++turns) {
    EXPECT_EQ(loop.turn(1'000).status().code(), StatusCode::resource_exhausted);
  }
  EXPECT_EQ(handled.size(), 2u);
}

// The event has a view into a buffer that another object owns.
TEST_F(MachineLoopTest, BorrowedDataLivesUntilItsEventIsHandled) {
  MachineLoop loop = make();
  auto owner = std::make_shared<const Bytes>(Bytes{1, 2, 3});
  weak_owner = owner;
  PeerFrameReceived event{.session = 1, .from = 2, .frame = *owner, .payload = {}};
  loop.post(std::move(event), std::move(owner));
  ASSERT_FALSE(weak_owner.expired());
  ASSERT_TRUE(*loop.turn(1'000));
  EXPECT_EQ(seen_of_owner, (Bytes{1, 2, 3}));
  EXPECT_TRUE(weak_owner.expired());
}

// Without encryption a key is only a claim, so the machine gets none.
TEST_F(MachineLoopTest, AKeyIsProvenWhereTheLinkEncrypts) {
  MachineLoop loop = make();
  Received received{.connection = 1, .peer = {}, .frame = {7}, .payload = {}};
  received.peer.bytes.fill(5);
  link.events.emplace_back(received);
  ASSERT_TRUE(*loop.turn(1'000));
  EXPECT_TRUE(proven.empty());
  link.encrypts = true;
  link.events.emplace_back(received);
  ASSERT_TRUE(*loop.turn(1'000));
  EXPECT_EQ(proven, Bytes(32, 5));
}

// Probes are timed only if the receiver was waiting for them: a message from the queue has no known
// arrival time.
TEST_F(MachineLoopTest, DistinguishesAwaitedEventsFromQueuedOnes) {
  MachineLoop loop = make();
  const Received received{.connection = 1, .peer = {}, .frame = {7}, .payload = {}};
  link.later = {received, received};
  ASSERT_TRUE(*loop.turn(1'000));
  ASSERT_TRUE(*loop.turn(1'000));
  link.later = {received};
  ASSERT_TRUE(*loop.turn(1'000));
  EXPECT_EQ(waited_for, (std::vector<bool>{true, false, true}));
}

// A deadline of 0 reads only what is there.
TEST_F(MachineLoopTest, DoesNotWaitWhenItIsTimeForSomethingElse) {
  MachineLoop loop = make();
  link.later.emplace_back(Received{.connection = 1, .peer = {}, .frame = {7}, .payload = {}});
  ASSERT_FALSE(*loop.turn(0));
  EXPECT_EQ(link.asked_until, 0);
  EXPECT_TRUE(handled.empty());
}

// One slow agent must delay neither the other agents nor the state machine.
TEST_F(MachineLoopTest, AMessageForAFullQueueWaitsInOrderAndDelaysNoOther) {
  MachineLoop loop = make();
  link.free_places = 1;
  answer.emplace_back(message(1, "a"));
  answer.emplace_back(message(1, "b"));
  answer.emplace_back(message(1, "c"));
  loop.feed(Tick{});
  EXPECT_EQ(texts(), "1a ");
  link.free_places = 1;
  answer.emplace_back(message(2, "d"));
  loop.feed(Tick{});
  EXPECT_EQ(texts(), "1a 2d ");
  link.free_places = 100;
  answer.emplace_back(message(1, "e"));
  loop.feed(Tick{});
  EXPECT_EQ(texts(), "1a 2d ") << "e must not overtake";
  ASSERT_TRUE(loop.turn(1'000).ok());
  EXPECT_EQ(texts(), "1a 2d 1b 1c 1e ");
}

// A new connection of the same agent starts a new session, to which they would not belong.
TEST_F(MachineLoopTest, MessagesOfAClosedConnectionAreDropped) {
  MachineLoop loop = make();
  link.free_places = 0;
  answer.emplace_back(message(1, "a"));
  loop.feed(Tick{});
  link.events.emplace_back(Disconnected{.connection = 1, .peer = {}, .why = no_connection()});
  link.free_places = 0;
  ASSERT_TRUE(*loop.turn(1'000));
  link.free_places = 100;
  ASSERT_TRUE(loop.turn(1'000).ok());
  EXPECT_EQ(texts(), "");
}

// An agent has one peer, the coordinator, whatever the number of its connection.
TEST_F(MachineLoopTest, AnAgentSendsToTheConnectionThatThereIs) {
  MachineLoop loop = make(true);
  answer.emplace_back(message(0, "nobody"));
  loop.feed(Tick{});
  EXPECT_EQ(loop.sends_dropped(), 1u);
  link.events.emplace_back(Connected{.connection = 7, .peer = {}});
  answer.emplace_back(message(0, "a"));
  ASSERT_TRUE(*loop.turn(1'000));
  EXPECT_EQ(handled.back(), kind<PeerConnected>());
  EXPECT_EQ(texts(), "7a ");
}

// The loop carries out sends and notes itself; an agent or a coordinator does the rest.
TEST_F(MachineLoopTest, OtherActionsAreHandedOn) {
  MachineLoop loop = make();
  answer.emplace_back(Train{});
  answer.emplace_back(Note{.name = "told"});
  loop.feed(Tick{});
  EXPECT_EQ(others, std::vector<std::size_t>{Action(Train{}).index()});
  EXPECT_EQ(log.entries().size(), 1u);
}

// A payload of minutes over a slow link carries no heartbeat, but its bytes arrive. Counts are
// compared with those of the previous check, half a second ago.
TEST_F(MachineLoopTest, ArrivingBytesKeepAPeerAlive) {
  MachineLoop loop = make();
  using Peers = std::vector<PeerId>;
  link.arrived = {{1, 100}, {2, 100}, {3, 100}};
  link.events = {connected(1), connected(2), connected(3)};
  EXPECT_EQ(alive_after_a_look(loop), Peers()) << "messages of both have arrived";
  EXPECT_EQ(alive_after_a_look(loop), Peers()) << "these bytes may be of these messages";
  link.arrived = {{1, 101}, {2, 100}, {3, 200}};
  EXPECT_EQ(alive_after_a_look(loop), (Peers{1, 3}));
  EXPECT_EQ(alive_after_a_look(loop), Peers()) << "nothing has arrived since";
  link.arrived = {{1, 50}, {2, 101}, {3, 0}};
  EXPECT_EQ(alive_after_a_look(loop), Peers{2}) << "fewer bytes are those of another connection";
}

// A check costs a system call per connection, so it is made for silent peers only.
TEST_F(MachineLoopTest, APeerWhoseMessageArrivedIsNotAskedFor) {
  MachineLoop loop = make();
  link.events = {connected(1)};
  EXPECT_TRUE(alive_after_a_look(loop).empty());
  for (std::uint64_t i = 1; i < 10; ++i) {
    link.events = {received(1)};
    link.arrived[1] = i;
    EXPECT_TRUE(alive_after_a_look(loop).empty());
  }
  EXPECT_EQ(link.looks, 0);
  EXPECT_TRUE(alive_after_a_look(loop).empty());
  EXPECT_EQ(link.looks, 1);
  link.arrived[1] = 100;
  EXPECT_EQ(alive_after_a_look(loop), std::vector<PeerId>{1});
}

// Between checks the loop sleeps; without a connection it sleeps as long as the caller allows.
TEST_F(MachineLoopTest, LooksTwiceASecondAndOnlyWhileThereIsAConnection) {
  MachineLoop loop = make();
  ASSERT_TRUE(loop.turn(10'000'000'000).ok());
  EXPECT_EQ(link.asked_until, 10'000'000'000);
  link.events = {connected(1)};
  ASSERT_TRUE(loop.turn(0).ok());
  ASSERT_TRUE(loop.turn(0).ok());  // the first check
  ASSERT_TRUE(loop.turn(10'000'000'000).ok());
  EXPECT_EQ(link.asked_until, 500'000'000);
  clock.advance(std::chrono::milliseconds(499));
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(loop.turn(0).ok());
  EXPECT_EQ(link.looks, 0);
  clock.advance(std::chrono::milliseconds(1));
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(loop.turn(0).ok());
  EXPECT_EQ(link.looks, 1);
  link.events = {Disconnected{.connection = 1, .peer = {}, .why = no_connection()}};
  ASSERT_TRUE(loop.turn(0).ok());
  clock.advance(std::chrono::seconds(5));
  ASSERT_TRUE(loop.turn(10'000'000'000).ok());
  EXPECT_EQ(link.looks, 1);
  EXPECT_EQ(link.asked_until, 10'000'000'000);
}

// The tick at the same moment would otherwise end the session of a peer that is sending.
TEST_F(MachineLoopTest, APeerIsFoundAliveBeforeATickThatWouldMissIt) {
  MachineLoop loop = make();
  link.events = {connected(1)};
  alive_after_a_look(loop);
  link.arrived[1] = 1;
  alive_after_a_look(loop);
  link.arrived[1] = 2;
  wakeup = (clock.now() + std::chrono::milliseconds(500)).count();
  handled.clear();
  EXPECT_EQ(alive_after_a_look(loop), std::vector<PeerId>{1});
  EXPECT_EQ(handled, (std::vector<std::size_t>{kind<PeerAlive>(), kind<Tick>()}));
}

// The list of peers changes while the loop goes through it.
TEST_F(MachineLoopTest, AnEventThatClosesPeersDoesNotDisturbTheLook) {
  MachineLoop loop = make();
  for (ConnectionId i = 1; i <= 4; ++i) link.events.push_back(connected(i));
  alive_after_a_look(loop);
  for (ConnectionId i = 1; i <= 4; ++i) link.arrived[i] = 1;
  alive_after_a_look(loop);
  for (ConnectionId i = 1; i <= 4; ++i) link.arrived[i] = 2;
  for (ConnectionId i = 1; i <= 4; ++i) answer.emplace_back(ClosePeer{.peer = i});
  EXPECT_EQ(alive_after_a_look(loop).size(), 1u) << "the first one's event closes all of them";
  // A peer that sends a message afterwards is known again.
  link.events = {received(2)};
  alive_after_a_look(loop);
  alive_after_a_look(loop);
  for (ConnectionId i = 1; i <= 4; ++i) link.arrived[i] = 3;
  EXPECT_EQ(alive_after_a_look(loop), std::vector<PeerId>{2});
}

// Bytes of the old connection do not show that the coordinator is alive.
TEST_F(MachineLoopTest, AnAgentLooksAtItsNewestConnectionAlone) {
  MachineLoop loop = make(true);
  link.events = {connected(1), connected(2)};
  alive_after_a_look(loop);
  link.arrived = {{1, 1}, {2, 1}};
  alive_after_a_look(loop);
  link.arrived = {{1, 2}, {2, 2}};
  EXPECT_EQ(alive_after_a_look(loop), std::vector<PeerId>{2});
}

// The machine names no connection, because it knows none.
TEST_F(MachineLoopTest, AnAgentsLoopGivesUpTheConnectionThatThereIs) {
  MachineLoop loop = make(true);
  link.events.push_back(Connected{.connection = 7, .peer = {}});
  answer.emplace_back(ClosePeer{});
  ASSERT_TRUE(*loop.turn(0));
  EXPECT_EQ(link.given_up, std::vector<ConnectionId>{7});
}

}  // namespace
}  // namespace tributary
