// Tests of a shaped link between a hub and its peers, on a clock that the test controls.
#include "core/net/shaped/shaped.h"

#include <gmock/gmock.h>

#include <thread>

#include "core/net/shaped/shaped_testing.h"
#include "core/net/zmq/link_testing.h"

namespace tributary {
namespace {

using link_testing::bytes;
using link_testing::Federation;
using link_testing::pump;
using link_testing::Side;
using shaped_testing::Far;
using shaped_testing::Near;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using testing::ElementsAre;

// The transport beneath (Near) delivers to Far at once, so every delay is the shaper's. The clock
// moves only by waits.
class ShapedTransport : public testing::Test {
 protected:
  void open(const ShapedOptions& options) {
    Result<std::unique_ptr<Transport>> line =
        make_shaped(std::make_unique<Near>(far_), far_.clock, options);
    ASSERT_TRUE(line.ok()) << line.status().text();
    line_ = *std::move(line);
    far_.pending_events.emplace_back(Connected{.connection = 1, .peer = {}});
    ASSERT_TRUE(next_by(seconds(10)));
  }
  std::optional<LinkEvent> next_by(nanoseconds deadline) { return *line_->receive(deadline); }
  void come_in(std::string_view frame) {
    far_.pending_events.emplace_back(
        Received{.connection = 1, .peer = {}, .frame = bytes(frame), .payload = {}});
  }
  Status send(std::string_view frame) { return line_->send(1, bytes(frame), {}); }

  Far far_;
  std::unique_ptr<Transport> line_;
};

// Ten bytes at 10 B/s take 1 s, plus 100 ms of delay; the next five bytes follow 0.5 s later.
TEST_F(ShapedTransport, SentMessagesTakeTheTimeOfTheLink) {
  open({.out = {.delay = milliseconds(100), .bytes_per_s = 10, .burst_bytes = 0}});
  const nanoseconds start = far_.clock.now();
  ASSERT_TRUE(send("0123456789").ok());
  ASSERT_TRUE(send("abcde").ok());
  EXPECT_FALSE(next_by(start + seconds(10)));
  EXPECT_THAT(far_.got, ElementsAre(Far::Got{start + milliseconds(1100), 1, "0123456789"},
                                    Far::Got{start + milliseconds(1600), 1, "abcde"}));
}

// In the first ten seconds only the delay counts; afterwards five bytes at 10 B/s take 0.5 s plus
// 0.5 s.
TEST_F(ShapedTransport, ALinkWithATraceChangesOverTime) {
  const auto trace = std::make_shared<const LinkTrace>(
      LinkTrace::make({{.lasts = seconds(10), .delay = milliseconds(100)},
                       {.lasts = seconds(10), .bytes_per_s = 10, .delay = milliseconds(500)}})
          .value());
  open({.out = {.burst_bytes = 0}, .trace = trace});
  const nanoseconds start = far_.clock.now();
  ASSERT_TRUE(send("0123456789").ok());
  EXPECT_FALSE(next_by(start + seconds(10)));
  ASSERT_TRUE(send("abcde").ok());
  EXPECT_FALSE(next_by(start + seconds(20)));
  EXPECT_THAT(far_.got, ElementsAre(Far::Got{start + milliseconds(100), 1, "0123456789"},
                                    Far::Got{start + milliseconds(11'000), 1, "abcde"}));
}

// An end of the connection must not overtake a message that was sent before it.
TEST_F(ShapedTransport, ReceivedMessagesTakeTheTimeOfTheLink) {
  open({.in = {.delay = milliseconds(100)}});
  const nanoseconds start = far_.clock.now();
  come_in("one");
  far_.pending_events.emplace_back(Disconnected{.connection = 1, .peer = {}, .why = {}});
  EXPECT_FALSE(next_by(start + milliseconds(99)));
  const std::optional<LinkEvent> first = next_by(start + seconds(1));
  EXPECT_EQ(far_.clock.now(), start + milliseconds(100));
  ASSERT_TRUE(first && std::holds_alternative<Received>(*first));
  const std::optional<LinkEvent> second = next_by(start + seconds(1));
  ASSERT_TRUE(second && std::holds_alternative<Disconnected>(*second)) << "not before the message";
  EXPECT_EQ(send("x").code(), StatusCode::unavailable);
}

// Heartbeats count bytes that have arrived so far, also those of an unfinished message. At 10 B/s
// and 500 ms of delay, byte k arrives at 500 ms + k / 10 s.
TEST_F(ShapedTransport, BytesArriveAtTheRateOfTheLink) {
  open({.in = {.delay = milliseconds(500), .bytes_per_s = 10, .burst_bytes = 0}});
  far_.arrived = 100;
  const nanoseconds start = far_.clock.now();
  EXPECT_EQ(line_->bytes_arrived(1), 100u);
  for (const char* frame : {"0123456789", "abcdefghij"}) {
    far_.arrived += 10;
    come_in(frame);
  }
  const auto arrived_at = [&](nanoseconds time) {
    EXPECT_FALSE(next_by(start + time));
    return line_->bytes_arrived(1);
  };
  EXPECT_EQ(arrived_at(milliseconds(500)), 100u) << "the first byte is still on its way";
  EXPECT_EQ(arrived_at(milliseconds(1000)), 105u);
  EXPECT_EQ(arrived_at(milliseconds(1400)), 109u);
  EXPECT_TRUE(next_by(start + milliseconds(1500)));
  EXPECT_EQ(line_->bytes_arrived(1), 110u);
  EXPECT_EQ(arrived_at(milliseconds(2000)), 115u);
  EXPECT_TRUE(next_by(start + milliseconds(2500)));
  EXPECT_EQ(line_->bytes_arrived(1), 120u);
  EXPECT_EQ(line_->bytes_arrived(2), 0u);
}

// With a loss of 1 every message is lost. The end of a connection is local knowledge, which no link
// can lose.
TEST_F(ShapedTransport, LosesWholeMessagesButNoDisconnection) {
  open({.out = {.loss = 1}, .in = {.loss = 1}});
  ASSERT_TRUE(send("gone").ok());
  come_in("gone too");
  far_.pending_events.emplace_back(Disconnected{.connection = 1, .peer = {}, .why = {}});
  const std::optional<LinkEvent> event = next_by(far_.clock.now() + seconds(1));
  ASSERT_TRUE(event && std::holds_alternative<Disconnected>(*event));
  EXPECT_TRUE(far_.got.empty());
}

// A slow link must not buffer without limit. The bound is in bytes.
TEST_F(ShapedTransport, TheMessagesOnTheLinkAreBounded) {
  open({.out = {.delay = seconds(1)}, .bytes_max = 10});
  EXPECT_TRUE(send("0123456789").ok());
  EXPECT_EQ(send("x").code(), StatusCode::resource_exhausted);
  next_by(far_.clock.now() + seconds(2));
  EXPECT_TRUE(send("x").ok());
}

// The shaper stops reading, so that the pressure reaches the sender as on a real link.
TEST_F(ShapedTransport, MessagesThatDoNotFitStayWithTheirSender) {
  open({.in = {.delay = milliseconds(20)}, .bytes_max = 5});
  for (int i = 0; i < 3; ++i) come_in("01234");
  const nanoseconds start = far_.clock.now();
  // One message is on the link, and the others are not accepted. The wait uses real time, while the
  // test's clock stands still.
  std::thread other([&] { line_->wake(); });
  EXPECT_FALSE(next_by(start + milliseconds(19)));
  other.join();
  EXPECT_EQ(far_.pending_events.size(), 2u);
  std::size_t received = 0;
  for (int i = 0; i < 10; ++i) {
    far_.clock.advance(milliseconds(20));
    const std::optional<LinkEvent> event = next_by(far_.clock.now());
    if (event && std::holds_alternative<Received>(*event)) ++received;
    EXPECT_LE(3 - received, far_.pending_events.size() + 1);
  }
  EXPECT_EQ(received, 3u);
}

// The caller has been told that the message was accepted, so the shaper may not drop it.
TEST_F(ShapedTransport, TriesAgainAfterAFullQueue) {
  open({});
  far_.full = true;
  ASSERT_TRUE(send("patience").ok());
  EXPECT_FALSE(next_by(far_.clock.now() + milliseconds(10)));
  EXPECT_TRUE(far_.got.empty());
  far_.full = false;
  EXPECT_FALSE(next_by(far_.clock.now() + milliseconds(10)));
  EXPECT_EQ(far_.got.size(), 1u);
}

// An error must come from send() and not be found later, when the message leaves the link.
TEST_F(ShapedTransport, RefusesWhatTheInnerTransportWouldRefuse) {
  open({});
  EXPECT_EQ(send("").code(), StatusCode::invalid_argument);
  EXPECT_EQ(line_->send(2, bytes("x"), {}).code(), StatusCode::unavailable);
  EXPECT_FALSE(make_shaped(std::make_unique<Near>(far_), far_.clock, {.out = {.loss = 2}}).ok());
}

// --- one shaper, over both kinds of transports ---

// A hub's connections appear while it runs; peers have fixed ranks from the start.
struct LineKind {
  const char* name;
  FixedMembers members;
  ShapePolicy policy;
};

// Behaviour that both kinds of transports have in common, tested for each.
class EitherKind : public testing::TestWithParam<LineKind> {
 protected:
  void open(ShapedOptions options) {
    options.policy = GetParam().policy;
    far_.members = GetParam().members;
    Result<std::unique_ptr<Transport>> line =
        make_shaped(std::make_unique<Near>(far_), far_.clock, options);
    ASSERT_TRUE(line.ok()) << line.status().text();
    line_ = *std::move(line);
    if (far_.members.count > 0) return;
    for (const ConnectionId connection : {1u, 2u}) {
      far_.pending_events.emplace_back(Connected{.connection = connection, .peer = {}});
      ASSERT_TRUE(next());
    }
  }
  std::optional<LinkEvent> next() { return *line_->receive(far_.clock.now() + seconds(60)); }
  void come_in(std::string_view frame) {
    far_.pending_events.emplace_back(
        Received{.connection = 1, .peer = {}, .frame = bytes(frame), .payload = {}});
  }
  void end_connection() {
    far_.pending_events.emplace_back(Disconnected{.connection = 1,
                                                  .peer = {},
                                                  .why = Status(StatusCode::unavailable, {}),
                                                  .unsent_bytes = 5});
  }

  Far far_;
  std::unique_ptr<Transport> line_;
};

// One device has one link, whatever the number of its connections.
TEST_P(EitherKind, ConnectionsShareTheLink) {
  open({.out = {.delay = milliseconds(100), .bytes_per_s = 10, .burst_bytes = 0}});
  const nanoseconds start = far_.clock.now();
  ASSERT_TRUE(line_->send(1, bytes("0123456789"), {}).ok());
  ASSERT_TRUE(line_->send(2, bytes("abcde"), {}).ok());
  EXPECT_EQ(line_->waiting_bytes(), 15u);
  EXPECT_FALSE(next());
  EXPECT_THAT(far_.got, ElementsAre(Far::Got{start + milliseconds(1100), 1, "0123456789"},
                                    Far::Got{start + milliseconds(1600), 2, "abcde"}));
  EXPECT_EQ(line_->waiting_bytes(), 0u);
}

// Estimates of links are made from these times, so they must show the shaped rate and not
// loopback's.
TEST_P(EitherKind, ReceivedMessagesAreTimedAndCountedAtTheRateOfTheLink) {
  open({.in = {.delay = milliseconds(500), .bytes_per_s = 10, .burst_bytes = 0}});
  far_.clock.advance(seconds(10));
  far_.arrived = 10;
  come_in("0123456789");
  EXPECT_FALSE(*line_->receive(far_.clock.now())) << "it is on the line now";
  EXPECT_LT(line_->bytes_arrived(1), 10u);
  const std::optional<LinkEvent> event = next();
  ASSERT_TRUE(event && std::holds_alternative<Received>(*event));
  EXPECT_EQ(std::get<Received>(*event).arrival.bytes, 10u);
  EXPECT_EQ(std::get<Received>(*event).arrival.took, seconds(1));
  EXPECT_EQ(line_->bytes_arrived(1), 10u);
}

// The other connection is not affected.
TEST_P(EitherKind, ADisconnectionIsReportedUnchangedAfterTheLastMessage) {
  open({.in = {.delay = milliseconds(100)}});
  come_in("last words");
  end_connection();
  std::optional<LinkEvent> event = next();
  ASSERT_TRUE(event && std::holds_alternative<Received>(*event));
  event = next();
  ASSERT_TRUE(event && std::holds_alternative<Disconnected>(*event));
  EXPECT_EQ(std::get<Disconnected>(*event).unsent_bytes, 5u);
  EXPECT_EQ(line_->send(1, bytes("x"), {}).code(), StatusCode::unavailable);
  EXPECT_TRUE(line_->send(2, bytes("x"), {}).ok());
}

// Peers use TCP, where a lost packet costs time but no message.
TEST_P(EitherKind, ALostMessageIsGoneOnlyIfThePolicySaysSo) {
  open({.out = {.loss = 1}, .in = {.loss = 1}});
  ASSERT_TRUE(line_->send(1, bytes("out"), {}).ok());
  come_in("in");
  end_connection();
  const std::optional<LinkEvent> event = next();
  ASSERT_TRUE(event);
  const bool lost = GetParam().policy.loses_messages;
  EXPECT_EQ(std::holds_alternative<Received>(*event), !lost);
  EXPECT_EQ(far_.got.size(), lost ? 0u : 1u);
}

// The round trip has the inner one (1 ms) and the delay of the receiving side, twice.
TEST_P(EitherKind, ReportsWhatTheInnerTransportReports) {
  open({.in = {.delay = milliseconds(100)}});
  EXPECT_TRUE(line_->encrypted());
  EXPECT_EQ(line_->counters().messages_in, 7u);
  EXPECT_EQ(line_->members().count, GetParam().members.count);
  EXPECT_EQ(&line_->limits(), &far_.limits);
  EXPECT_DOUBLE_EQ(*line_->round_trip_min_s(1), 0.001 + 2 * 0.1);
}

// For fixed members an unknown rank is a mistake of the caller; for a hub the connection may have
// ended.
TEST_P(EitherKind, RefusesMessagesThatNoLinkCarries) {
  far_.limits.payload_bytes_max = 10;
  open({});
  EXPECT_EQ(line_->send(1, bytes(""), {}).code(), StatusCode::invalid_argument);
  EXPECT_EQ(line_->send(1, bytes("x"), Bytes(11)).code(), StatusCode::invalid_argument);
  const StatusCode unknown =
      GetParam().members.count > 0 ? StatusCode::invalid_argument : StatusCode::unavailable;
  EXPECT_EQ(line_->send(0, bytes("x"), {}).code(), unknown);
  EXPECT_EQ(line_->send(3, bytes("x"), {}).code(), unknown);
}

INSTANTIATE_TEST_SUITE_P(
    Lines, EitherKind,
    testing::Values(LineKind{"ToAHub", {}, kShapedHub},
                    LineKind{"AmongPeers", {.count = 3, .own_rank = 0}, kShapedPeers},
                    LineKind{"AmongPeersThatLose", {.count = 3, .own_rank = 0}, kShapedHub}),
    [](const auto& kind) { return kind.param.name; });

// The same seed gives the same losses, so the test computes how many of 40 messages must arrive.
TEST(ShapedLink, OverRealSockets) {
  Federation federation;
  Side hub = federation.hub();
  const SystemClock clock;
  Result<std::unique_ptr<Spoke>> spoke =
      open_spoke(federation.spoke_options(federation.allowed_keys()));
  ASSERT_TRUE(spoke.ok());
  const ShapeOptions shape = {.delay = milliseconds(5), .loss = 0.5, .seed = 4};
  Side slow{.link = *make_shaped(*std::move(spoke), clock, {.out = shape, .in = shape})};
  ASSERT_TRUE(pump({&hub, &slow}, [&] { return hub.connected() && slow.connected(); }));
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(slow.send("up").ok());
    ASSERT_TRUE(hub.send("down").ok());
  }
  Shaper same = *Shaper::make(shape);
  std::size_t arrive = 0;
  for (int i = 0; i < 40; ++i) arrive += same.arrival(nanoseconds(0), 2).has_value() ? 1u : 0u;
  ASSERT_GT(arrive, 0u);
  ASSERT_LT(arrive, 40u);
  ASSERT_TRUE(pump({&hub, &slow}, [&] {
    return hub.count<Received>() == arrive && slow.count<Received>() == arrive;
  }));
}

}  // namespace
}  // namespace tributary
