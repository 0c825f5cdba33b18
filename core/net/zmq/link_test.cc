// Tests of hubs and spokes over real sockets.
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <atomic>
#include <thread>

#include "core/net/zmq/link_testing.h"

namespace tributary {
namespace {

using link_testing::bytes;
using link_testing::Federation;
using link_testing::new_keys;
using link_testing::pump;
using link_testing::Side;
using link_testing::text;
using testing::HasSubstr;

SharedSlice payload_of(std::size_t size, std::uint8_t fill) { return Bytes(size, fill); }

// Runs each test with and without encryption.
class Links : public testing::TestWithParam<bool> {
 protected:
  Links() { federation_.encrypted = GetParam(); }

  Federation federation_;
};
INSTANTIATE_TEST_SUITE_P(, Links, testing::Bool(), [](const auto& each) {
  return std::string(each.param ? "Encrypted" : "Open");
});

// Payloads begin at a multiple of 8 bytes, because codecs read them as numbers. Bytes on the wire
// add ZMTP's header of 2 or 9 bytes per part, and 33 bytes per part if it is encrypted.
TEST_P(Links, CarryFramesAndPayloadsBothWays) {
  Side hub = federation_.hub();
  const KeyPair keys = federation_.allowed_keys();
  Side spoke = Federation::spoke(federation_.spoke_options(keys));
  ASSERT_TRUE(pump({&hub, &spoke}, [&] { return hub.connected() && spoke.connected(); }));
  EXPECT_EQ(hub.last<Connected>()->peer, keys.public_key);
  EXPECT_EQ(spoke.last<Connected>()->peer, federation_.hub_keys.public_key);
  EXPECT_EQ(hub.link->encrypted(), GetParam());

  ASSERT_TRUE(spoke.send("up", payload_of(1'000'000, 1)).ok());
  ASSERT_TRUE(spoke.send("and again").ok());
  ASSERT_TRUE(hub.send("down", payload_of(3, 2)).ok());
  ASSERT_TRUE(pump({&hub, &spoke},
                   [&] { return hub.count<Received>() == 2 && spoke.count<Received>() == 1; }));
  const Received& up = *hub.all<Received>()[0];
  EXPECT_EQ(text(up.frame), "up");
  EXPECT_EQ(up.peer, keys.public_key);
  EXPECT_EQ(text(up.payload), std::string(1'000'000, '\1'));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(up.payload.view().data()) % 8, 0u);
  EXPECT_EQ(text(hub.all<Received>()[1]->frame), "and again");
  EXPECT_TRUE(hub.all<Received>()[1]->payload.empty());
  EXPECT_EQ(text(spoke.last<Received>()->payload), std::string(3, '\2'));
  EXPECT_EQ(hub.link->counters().messages_in, 2u);
  EXPECT_EQ(hub.link->counters().bytes_in, 1'000'011u);
  EXPECT_EQ(spoke.link->counters().bytes_out, 1'000'011u);
  // Two short parts and one long part.
  const std::uint64_t on_the_wire = 1'000'011 + 2 + 9 + 2 + (GetParam() ? 3 * 33 : 0);
  EXPECT_EQ(hub.link->counters().wire_bytes_in, on_the_wire);
  EXPECT_EQ(spoke.link->counters().wire_bytes_out, on_the_wire);
  EXPECT_EQ(hub.link->counters().wire_bytes_out, spoke.link->counters().wire_bytes_in);
}

// Otherwise the last message of an agent would belong to no session.
TEST_P(Links, TheEndOfAConnectionIsReportedAfterItsMessages) {
  Side hub = federation_.hub();
  {
    Side spoke = federation_.allowed_spoke();
    ASSERT_TRUE(pump({&hub, &spoke}, [&] { return hub.connected() && spoke.connected(); }));
    ASSERT_TRUE(spoke.send("last words").ok());
  }
  ASSERT_TRUE(pump({&hub}, [&] { return hub.count<Disconnected>() == 1; }));
  EXPECT_EQ(hub.count<Received>(), 1u) << "what was sent before comes before";
  EXPECT_EQ(hub.send("too late").code(), StatusCode::unavailable);
}

// The new number keeps messages for the first hub from reaching the second.
TEST_P(Links, ASpokeReconnectsToANewHubAsAnotherConnection) {
  std::optional<Side> hub = federation_.hub();
  Side spoke = federation_.allowed_spoke();
  ASSERT_TRUE(pump({&*hub, &spoke}, [&] { return hub->connected() && spoke.connected(); }));
  const ConnectionId first = spoke.connection();
  hub.reset();
  ASSERT_TRUE(pump({&spoke}, [&] { return spoke.count<Disconnected>() == 1; }));
  EXPECT_EQ(spoke.link->send(first, bytes("x"), {}).code(), StatusCode::unavailable);
  hub = federation_.hub();
  ASSERT_TRUE(pump({&*hub, &spoke}, [&] { return hub->connected() && spoke.connected(); }));
  EXPECT_NE(spoke.connection(), first);
  EXPECT_EQ(spoke.link->send(first, bytes("x"), {}).code(), StatusCode::unavailable);
  ASSERT_TRUE(spoke.send("here again").ok());
  ASSERT_TRUE(pump({&*hub, &spoke}, [&] { return hub->count<Received>() == 1; }));
}

// A number that is not the current connection's is ignored: the connection may have been replaced
// in the meantime.
TEST_P(Links, AConnectionThatIsGivenUpIsMadeAnew) {
  Side hub = federation_.hub();
  Side spoke = federation_.allowed_spoke();
  ASSERT_TRUE(pump({&hub, &spoke}, [&] { return hub.connected() && spoke.connected(); }));
  const ConnectionId first = spoke.connection();
  spoke.link->give_up(first + 1);
  hub.link->give_up(hub.connection());
  ASSERT_TRUE(spoke.send("still there").ok());
  ASSERT_TRUE(pump({&hub, &spoke}, [&] { return hub.count<Received>() == 1; }));
  EXPECT_EQ(spoke.count<Disconnected>(), 0u) << "neither was a spoke's connection";
  spoke.link->give_up(first);
  ASSERT_TRUE(pump({&hub, &spoke},
                   [&] { return spoke.count<Connected>() == 2 && hub.count<Connected>() == 2; }));
  ASSERT_EQ(spoke.count<Disconnected>(), 1u);
  EXPECT_EQ(spoke.last<Disconnected>()->connection, first);
  ASSERT_TRUE(spoke.send("again").ok());
  ASSERT_TRUE(pump({&hub, &spoke}, [&] { return hub.count<Received>() == 2; }));
  EXPECT_EQ(text(hub.last<Received>()->frame), "again");
}

// Keep-alives detect a connection that broke without a packet. A test can only check that the
// socket has them, because it cannot break the network.
TEST_P(Links, TheKernelLooksWhetherTheOtherSideIsThere) {
  federation_.times.unacknowledged_max = std::chrono::milliseconds(12'345);
  Side hub = federation_.hub();
  Side spoke = federation_.allowed_spoke();
  ASSERT_TRUE(pump({&hub, &spoke}, [&] { return hub.connected() && spoke.connected(); }));
  int sides = 0;
  for (int file = 0; file < 1024; ++file) {
    const auto number = [&](int level, int name) {
      int value = -1;
      socklen_t size = sizeof(value);
      return ::getsockopt(file, level, name, &value, &size) == 0 ? value : -1;
    };
    if (number(IPPROTO_TCP, TCP_USER_TIMEOUT) != 12'345) continue;
    if (number(SOL_SOCKET, SO_ACCEPTCONN) != 0) continue;
    EXPECT_EQ(number(SOL_SOCKET, SO_KEEPALIVE), 1);
    EXPECT_GT(number(IPPROTO_TCP, TCP_KEEPIDLE), 0);
    ++sides;
  }
  EXPECT_EQ(sides, 2);
}

// Devices and coordinator start in any order. The error names the address, which is the most
// frequent mistake.
TEST_P(Links, ASpokeMayStartBeforeItsHub) {
  const KeyPair keys = federation_.allowed_keys();
  { const Side hub = federation_.hub(); }  // finds a free port
  Side spoke = Federation::spoke(federation_.spoke_options(keys));
  ASSERT_TRUE(pump({&spoke}, [&] { return spoke.count<Unreachable>() >= 2; }));
  EXPECT_THAT(spoke.last<Unreachable>()->why.text(), HasSubstr(federation_.endpoint));
  EXPECT_EQ(spoke.send("x").code(), StatusCode::unavailable);
  Side hub = federation_.hub();
  ASSERT_TRUE(pump({&hub, &spoke}, [&] { return hub.connected() && spoke.connected(); }));
}

// The receiver would end the connection, so the sender refuses first. The limits are inclusive.
TEST_P(Links, PartsAboveTheirCapAreNotSent) {
  federation_.limits.frame_bytes_max = 100;
  federation_.limits.payload_bytes_max = 5000;
  Side hub = federation_.hub();
  Side spoke = federation_.allowed_spoke();
  ASSERT_TRUE(pump({&hub, &spoke}, [&] { return hub.connected() && spoke.connected(); }));
  for (const Side* side : {&hub, &spoke}) {
    EXPECT_EQ(side->send(std::string(101, 'a')).code(), StatusCode::invalid_argument);
    EXPECT_EQ(side->send("a", payload_of(5001, 1)).code(), StatusCode::invalid_argument);
    EXPECT_EQ(side->send("").code(), StatusCode::invalid_argument);
    EXPECT_TRUE(side->send(std::string(100, 'a'), payload_of(5000, 1)).ok());
    EXPECT_EQ(side->link->counters().sends_refused, 3u);
  }
  ASSERT_TRUE(pump({&hub, &spoke},
                   [&] { return hub.count<Received>() == 1 && spoke.count<Received>() == 1; }));
}

// send() never blocks, because it runs on the thread of the state machine.
TEST_P(Links, AFullQueueIsAnError) {
  federation_.limits.send_queue_bytes = 4u << 20;
  federation_.limits.receive_queue_messages = 2;
  Side hub = federation_.hub();
  Side spoke = federation_.allowed_spoke();
  ASSERT_TRUE(pump({&hub, &spoke}, [&] { return hub.connected() && spoke.connected(); }));
  // The hub does not read, so its queue, the kernel and the spoke's queue fill up.
  const SharedSlice payload = payload_of(1u << 20, 3);
  std::size_t sent = 0;
  Status status;
  while (sent < 1000 && (status = spoke.send("part", payload)).ok()) ++sent;
  EXPECT_EQ(status.code(), StatusCode::resource_exhausted) << sent;
  // The queues become empty again, and no message is lost.
  ASSERT_TRUE(pump({&hub}, [&] { return hub.count<Received>() == sent; }));
  ASSERT_TRUE(pump({&spoke}, [&] { return spoke.send("more").ok(); }));
  ASSERT_TRUE(pump({&hub}, [&] { return hub.count<Received>() == sent + 1; }));
}

// Each message has a cost of its own besides its bytes.
TEST_P(Links, AQueueOfSmallMessagesIsBoundedToo) {
  federation_.limits.send_queue_messages = 8;
  federation_.limits.receive_queue_messages = 2;
  Side hub = federation_.hub();
  Side spoke = federation_.allowed_spoke();
  ASSERT_TRUE(pump({&hub, &spoke}, [&] { return hub.connected() && spoke.connected(); }));
  std::size_t sent = 0;
  Status status;
  while (sent < 1'000'000 && (status = hub.send(std::string(1000, 's'))).ok()) ++sent;
  EXPECT_EQ(status.code(), StatusCode::resource_exhausted) << sent;
  ASSERT_TRUE(pump({&spoke}, [&] { return spoke.count<Received>() == sent; }));
}

// The smallest queues must not deadlock when both sides send.
TEST_P(Links, QueuesOfOneMessageSuffice) {
  federation_.limits.send_queue_messages = 1;
  federation_.limits.receive_queue_messages = 1;
  Side hub = federation_.hub();
  Side spoke = federation_.allowed_spoke();
  ASSERT_TRUE(pump({&hub, &spoke}, [&] { return hub.connected() && spoke.connected(); }));
  for (std::size_t i = 1; i <= 20; ++i) {
    ASSERT_TRUE(pump({&hub, &spoke}, [&] { return spoke.send("up", payload_of(2000, 1)).ok(); }));
    ASSERT_TRUE(pump({&hub, &spoke}, [&] { return hub.send("down", payload_of(2000, 1)).ok(); }));
    ASSERT_TRUE(pump({&hub, &spoke},
                     [&] { return hub.count<Received>() == i && spoke.count<Received>() == i; }));
  }
}

// Payloads are not copied, so libzmq's threads release them: after sending, after a refusal, or
// when the link closes.
TEST_P(Links, APayloadIsReleasedOnce) {
  std::atomic<int> let_go = 0;
  const auto counted = [&](std::size_t size) {
    auto* const memory = new Bytes(size, 7);
    const std::shared_ptr<const void> owner(memory, [&let_go, memory](const void*) {
      ++let_go;
      delete memory;
    });
    return SharedSlice(owner, *memory);
  };
  Side hub = federation_.hub();
  {
    Side spoke = federation_.allowed_spoke();
    ASSERT_TRUE(pump({&hub, &spoke}, [&] { return hub.connected() && spoke.connected(); }));
    ASSERT_TRUE(spoke.send("sent", counted(100'000)).ok());
    ASSERT_TRUE(pump({&hub}, [&] { return hub.count<Received>() == 1 && let_go == 1; }));
    EXPECT_FALSE(spoke.send("refused", counted(5u << 20)).ok());
    EXPECT_EQ(let_go, 2);
    EXPECT_FALSE(spoke.link->send(99, bytes("nowhere"), counted(100'000)).ok());
    EXPECT_EQ(let_go, 3);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(spoke.send("under way", counted(4u << 20)).ok());
  }
  EXPECT_EQ(let_go, 6) << "also what was under way when the link was closed";
}

// All spokes share one block of memory, of which a part is sent.
TEST_P(Links, OnePayloadIsSentToManySpokes) {
  Side hub = federation_.hub();
  std::vector<Side> spokes;
  std::vector<Side*> all = {&hub};
  for (int i = 0; i < 5; ++i) spokes.push_back(federation_.allowed_spoke(std::to_string(i)));
  for (Side& spoke : spokes) all.push_back(&spoke);
  ASSERT_TRUE(pump(all, [&] { return hub.count<Connected>() == 5; }));
  const SharedSlice payload = payload_of(300'000, 9);
  for (const Connected* peer : hub.all<Connected>()) {
    ASSERT_TRUE(hub.link->send(peer->connection, bytes("all"), payload.part(100, 200'000)).ok());
  }
  for (Side& spoke : spokes) {
    ASSERT_TRUE(pump(all, [&] { return spoke.count<Received>() == 1; }));
    EXPECT_EQ(text(spoke.last<Received>()->payload), std::string(200'000, '\11'));
  }
}

// An hour's wait: the test would time out if wake() did nothing.
TEST_P(Links, WakeEndsAWait) {
  Side hub = federation_.hub();
  Side spoke = federation_.allowed_spoke();
  ASSERT_TRUE(pump({&hub, &spoke}, [&] { return hub.connected() && spoke.connected(); }));
  const SystemClock clock;
  for (Side* const side : {&hub, &spoke}) {
    std::thread other([&] { side->link->wake(); });
    const auto event = side->link->receive(clock.now() + std::chrono::hours(1));
    other.join();
    ASSERT_TRUE(event.ok());
    EXPECT_FALSE(event->has_value());
  }
}

// A busy loop that is always late must still make progress.
TEST_P(Links, ADeadlineInThePastStillReadsWhatIsThere) {
  Side hub = federation_.hub();
  Side spoke = federation_.allowed_spoke();
  ASSERT_TRUE(pump({&hub, &spoke}, [&] { return hub.connected() && spoke.connected(); }));
  ASSERT_TRUE(spoke.send("now").ok());
  while (hub.count<Received>() == 0) hub.collect(std::chrono::seconds(-1));
}

// The old connection of a device may still look alive when its new one arrives.
TEST_P(Links, TheSameKeyTwiceIsTwoConnections) {
  Side hub = federation_.hub();
  const KeyPair keys = federation_.allowed_keys();
  Side one = Federation::spoke(federation_.spoke_options(keys));
  ASSERT_TRUE(pump({&hub, &one}, [&] { return hub.connected(); }));
  Side two = Federation::spoke(federation_.spoke_options(keys));
  ASSERT_TRUE(pump({&hub, &one, &two}, [&] { return hub.count<Connected>() == 2; }));
  EXPECT_EQ(hub.all<Connected>()[0]->peer, hub.all<Connected>()[1]->peer);
  if (!GetParam()) return;  // without encryption, the second connection replaces the first
  for (const Connected* each : hub.all<Connected>()) {
    ASSERT_TRUE(hub.link->send(each->connection, bytes(std::to_string(each->connection)), {}).ok());
  }
  ASSERT_TRUE(pump({&hub, &one, &two},
                   [&] { return one.count<Received>() == 1 && two.count<Received>() == 1; }));
  EXPECT_EQ(text(one.last<Received>()->frame), std::to_string(hub.all<Connected>()[0]->connection));
  EXPECT_EQ(text(two.last<Received>()->frame), std::to_string(hub.all<Connected>()[1]->connection));
}

// An encrypted hub without an allow-list would admit no agent.
TEST(LinkOptions, MistakesAreErrors) {
  Federation federation;
  EXPECT_FALSE(
      open_hub({.endpoint = "nowhere", .keys = new_keys(), .allowed = federation.allowed}).ok());
  EXPECT_EQ(open_hub({.endpoint = "tcp://127.0.0.1:*", .keys = new_keys()}).status().code(),
            StatusCode::invalid_argument)
      << "encrypted and without an allow-list";
  const Side hub = federation.hub();
  EXPECT_FALSE(
      open_hub({.endpoint = federation.endpoint, .keys = new_keys(), .allowed = federation.allowed})
          .ok())
      << "the port is taken";
  SpokeOptions options = federation.spoke_options(new_keys());
  options.endpoint = "nonsense";
  EXPECT_FALSE(open_spoke(options).ok());
}

}  // namespace
}  // namespace tributary
