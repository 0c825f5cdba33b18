// Tests of shaped links among peers, which lose nothing and cross two links.
#include <gmock/gmock.h>

#include <string>
#include <thread>

#include "core/net/shaped/shaped.h"
#include "core/net/shaped/shaped_peer_port.h"
#include "core/net/shaped/shaped_testing.h"

namespace tributary {
namespace {

using link_testing::bytes;
using shaped_testing::Far;
using shaped_testing::Near;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using testing::ElementsAre;

// Member 0 of three. Every delay is the shaper's, as in shaped_test.cc.
class ShapedMesh : public testing::Test {
 protected:
  void open(const ShapedOptions& options) {
    ShapedOptions peers = options;
    peers.policy = kShapedPeers;
    far_.members = {.count = 3, .own_rank = 0};
    const auto link = tributary::ShapedLink::make(peers, far_.clock.now());
    ASSERT_TRUE(link.ok()) << link.status().text();
    mesh_ = *make_shaped(std::make_unique<Near>(far_), far_.clock, *link,
                         {.out_bytes_max = send_queue_bytes_, .in_bytes_max = options.bytes_max});
  }
  static ShapeOptions link_shape(milliseconds delay, std::uint64_t bytes_per_s) {
    return {.delay = delay, .bytes_per_s = bytes_per_s, .burst_bytes = 0};
  }
  std::optional<LinkEvent> next_by(nanoseconds deadline) { return *mesh_->receive(deadline); }
  Status send(std::uint32_t to, std::string_view frame) {
    return mesh_->send(to, bytes(frame), {});
  }
  void come_in(std::uint32_t from, std::string_view frame) {
    far_.pending_events.emplace_back(
        Received{.connection = from, .peer = {}, .frame = bytes(frame), .payload = {}});
  }
  // The next message and the time at which it was delivered.
  std::pair<nanoseconds, std::string> next_message() {
    const std::optional<LinkEvent> event = next_by(far_.clock.now() + seconds(60));
    const auto* const message = event ? std::get_if<Received>(&*event) : nullptr;
    if (!message) return {};
    arrival_ = message->arrival;
    return {far_.clock.now(), std::to_string(message->connection) +
                                  std::string(message->frame.begin(), message->frame.end())};
  }

  Far far_;
  std::size_t send_queue_bytes_ = kPeerLimits.send_queue_bytes;
  std::unique_ptr<Transport> mesh_;
  Arrival arrival_;
};

// 20 bytes at 10 B/s: the last of three messages leaves after 2 s and arrives 100 ms later.
TEST_F(ShapedMesh, MessagesToAllMembersShareTheLinkInOrder) {
  open({.out = link_shape(milliseconds(100), 10)});
  ASSERT_TRUE(send(1, "0123456789").ok());
  ASSERT_TRUE(send(2, "abcde").ok());
  ASSERT_TRUE(send(1, "fghij").ok());
  EXPECT_EQ(mesh_->waiting_bytes(), 20u);
  EXPECT_FALSE(next_by(seconds(10)));
  EXPECT_THAT(far_.got, ElementsAre(Far::Got{milliseconds(1'100), 1, "0123456789"},
                                    Far::Got{milliseconds(1'600), 2, "abcde"},
                                    Far::Got{milliseconds(2'100), 1, "fghij"}));
  EXPECT_EQ(mesh_->waiting_bytes(), 0u);
}

// The first message has crossed a link like this one while it crossed this one; the second had to
// wait for it.
TEST_F(ShapedMesh, MessagesFromAllMembersShareTheLinkAndAreTimedAlone) {
  open({.in = link_shape(milliseconds(100), 10)});
  far_.clock.advance(seconds(5));
  come_in(1, "0123456789");
  come_in(2, "abcde");
  EXPECT_EQ(next_message(),
            std::pair(nanoseconds(milliseconds(5'100)), std::string("10123456789")));
  EXPECT_EQ(arrival_.bytes, 10u);
  EXPECT_EQ(arrival_.took, seconds(1));
  EXPECT_EQ(next_message(), std::pair(nanoseconds(milliseconds(5'600)), std::string("2abcde")));
  EXPECT_EQ(arrival_.took, milliseconds(500)) << "of its own bytes";
}

// The receiver was busy for 2 s, of which 100 ms were the delay. The shaper cannot tell a busy
// receiver from a slow link.
TEST_F(ShapedMesh, AMessageThatIsReceivedLateLooksSlower) {
  open({.in = link_shape(milliseconds(100), 10)});
  far_.clock.advance(seconds(5));
  come_in(1, "01234");
  EXPECT_FALSE(next_by(far_.clock.now()));
  far_.clock.advance(seconds(2));
  ASSERT_FALSE(next_message().second.empty());
  EXPECT_EQ(arrival_.took, milliseconds(500 + 1'900));
}

// Only the delay is shaped, so the time measured beneath is the true one.
TEST_F(ShapedMesh, ALinkWithoutARateKeepsTheMeasuredArrival) {
  open({.in = link_shape(milliseconds(10), 0)});
  far_.pending_events.emplace_back(Received{.connection = 1,
                                            .peer = {},
                                            .frame = bytes("x"),
                                            .payload = {},
                                            .arrival = {.bytes = 100'000, .took = seconds(3)}});
  ASSERT_FALSE(next_message().second.empty());
  EXPECT_EQ(arrival_.bytes, 100'000u);
  EXPECT_EQ(arrival_.took, seconds(3));
}

// Five bytes fit into the burst. A time of 0 would be an infinite rate.
TEST_F(ShapedMesh, AnArrivalThatTookNoTimeIsNotTimed) {
  open({.in = link_shape(milliseconds(0), 1'000'000)});
  come_in(1, "short");
  ASSERT_FALSE(next_message().second.empty());
  EXPECT_EQ(arrival_.bytes, 0u);
}

// Even with a loss of 1 the message arrives, because a repeat is bounded; it only takes longer.
TEST_F(ShapedMesh, ALostMessageIsSentAgainAndNothingIsMissing) {
  ShapeOptions out = link_shape(milliseconds(0), 10);
  out.loss = 1;
  ShapeOptions in = out;
  open({.out = out, .in = in});
  ASSERT_TRUE(send(1, "0123456789").ok());
  come_in(2, "abc");
  EXPECT_EQ(next_message().second, "2abc");
  EXPECT_FALSE(next_by(seconds(60)));
  ASSERT_EQ(far_.got.size(), 1u);
  ASSERT_TRUE(send(1, "x").ok());
  EXPECT_FALSE(next_by(seconds(120)));
  ASSERT_EQ(far_.got.size(), 2u);
}

// The round trip crosses two links in each direction. For member 2 the inner mesh has measured
// none, so there is no sum.
TEST_F(ShapedMesh, FollowsItsTrace) {
  const auto trace = LinkTrace::parse("10, 0, 100, 0\n10, 0, 1, 0\n");
  ASSERT_TRUE(trace.ok());
  open({.trace = std::make_shared<const LinkTrace>(*trace)});
  EXPECT_DOUBLE_EQ(*mesh_->round_trip_min_s(1), 0.001 + 4 * 0.1);
  EXPECT_FALSE(mesh_->round_trip_min_s(2)) << "nobody knows the line below";
  far_.clock.advance(seconds(10));
  EXPECT_DOUBLE_EQ(*mesh_->round_trip_min_s(1), 0.001 + 4 * 0.001);
  ASSERT_TRUE(send(1, "x").ok());
  EXPECT_FALSE(next_by(seconds(11)));
  EXPECT_THAT(far_.got, ElementsAre(Far::Got{milliseconds(10'001), 1, "x"}));
}

// The bound is the mesh's own, not the link's.
TEST_F(ShapedMesh, TheSendQueueIsBounded) {
  send_queue_bytes_ = 10;
  open({.out = link_shape(seconds(1), 0)});
  ASSERT_TRUE(send(1, "0123456789").ok());
  EXPECT_EQ(send(2, "x").code(), StatusCode::resource_exhausted);
  EXPECT_FALSE(next_by(seconds(2)));
  EXPECT_TRUE(send(2, "x").ok());
}

// As over a hub (shaped_test.cc).
TEST_F(ShapedMesh, MessagesThatDoNotFitStayWithTheirSender) {
  open({.in = link_shape(milliseconds(20), 0), .bytes_max = 5});
  for (int i = 0; i < 3; ++i) come_in(1, "01234");
  // One message is on the link, and the others are not accepted. The wait uses real time, while the
  // test's clock stands still.
  std::thread other([&] { mesh_->wake(); });
  EXPECT_FALSE(next_by(milliseconds(19)));
  other.join();
  EXPECT_EQ(far_.pending_events.size(), 2u);
  std::size_t received = 0;
  for (int i = 0; i < 10; ++i) {
    far_.clock.advance(milliseconds(20));
    if (next_by(far_.clock.now())) ++received;
  }
  EXPECT_EQ(received, 3u);
}

// As over a hub (shaped_test.cc).
TEST_F(ShapedMesh, TriesAgainAfterAFullQueue) {
  open({});
  far_.full = true;
  ASSERT_TRUE(send(1, "patience").ok());
  EXPECT_FALSE(next_by(milliseconds(10)));
  EXPECT_TRUE(far_.got.empty());
  far_.full = false;
  EXPECT_FALSE(next_by(milliseconds(20)));
  EXPECT_EQ(far_.got.size(), 1u);
}

// The other member is not affected.
TEST_F(ShapedMesh, ALostMemberIsReportedAfterItsLastMessage) {
  open({.in = link_shape(milliseconds(100), 0)});
  come_in(1, "last words");
  far_.pending_events.emplace_back(
      Disconnected{.connection = 1, .peer = {}, .why = Status(StatusCode::unavailable, {})});
  EXPECT_EQ(next_message().second, "1last words");
  const std::optional<LinkEvent> event = next_by(seconds(1));
  ASSERT_TRUE(event && std::holds_alternative<Disconnected>(*event));
  EXPECT_EQ(send(1, "x").code(), StatusCode::unavailable);
  EXPECT_TRUE(send(2, "x").ok());
}

// To itself, beyond the last rank, and without a frame.
TEST_F(ShapedMesh, RefusesWhatTheInnerMeshWouldRefuse) {
  open({});
  EXPECT_EQ(send(0, "to myself").code(), StatusCode::invalid_argument);
  EXPECT_EQ(send(3, "to nobody").code(), StatusCode::invalid_argument);
  EXPECT_EQ(send(1, "").code(), StatusCode::invalid_argument);
}

// Two ports of one process, one of them shaped; another thread wakes them.
TEST(ShapedPeerPort, OverRealSockets) {
  const SystemClock clock;
  MeshOptions options;
  std::vector<std::unique_ptr<PeerPort>> ports;
  for (int i = 0; i < 2; ++i) {
    ports.push_back(*open_tcp_peer_port("tcp://127.0.0.1:0", "", clock));
    options.members.push_back({.endpoint = ports.back()->endpoint(), .key = {}});
  }
  const ShapeOptions slow = {.delay = milliseconds(1), .bytes_per_s = 1'000'000, .burst_bytes = 0};
  ports[0] = *make_shaped_peer_port(std::move(ports[0]), clock, {.out = slow, .in = slow});
  EXPECT_EQ(ports[0]->endpoint(), options.members[0].endpoint);
  std::vector<std::unique_ptr<Transport>> meshes;
  for (std::uint32_t i = 0; i < 2; ++i) {
    options.rank = i;
    meshes.push_back(*ports[i]->open(options));
  }
  const auto payload = [](std::size_t bytes) { return SharedSlice(Bytes(bytes, 7)); };
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(meshes[0]->send(1, bytes("there"), payload(10'000)).ok());
    ASSERT_TRUE(meshes[1]->send(0, bytes("back"), payload(10'000)).ok());
  }
  std::vector<std::vector<Received>> got(2);
  const auto give_up_at = clock.now() + seconds(60);
  while ((got[0].size() < 3 || got[1].size() < 3) && clock.now() < give_up_at) {
    for (std::uint32_t i = 0; i < 2; ++i) {
      Result<std::optional<LinkEvent>> event = meshes[i]->receive(clock.now() + milliseconds(1));
      ASSERT_TRUE(event.ok()) << event.status().text();
      if (!*event) continue;
      ASSERT_TRUE(std::holds_alternative<Received>(**event));
      got[i].push_back(std::get<Received>(std::move(**event)));
    }
  }
  ASSERT_EQ(got[0].size(), 3u);
  ASSERT_EQ(got[1].size(), 3u);
  for (const Received& message : got[0]) {
    EXPECT_EQ(message.payload.size(), 10'000u);
    EXPECT_EQ(message.arrival.bytes, 10'004u);
    EXPECT_GE(message.arrival.took, milliseconds(10)) << "never quicker than the line";
  }
  std::thread other([&] { meshes[0]->wake(); });
  const Result<std::optional<LinkEvent>> nothing = meshes[0]->receive(nanoseconds::max());
  other.join();
  EXPECT_TRUE(nothing.ok() && !*nothing);
}

}  // namespace
}  // namespace tributary
