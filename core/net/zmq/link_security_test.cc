// Tests that peers without a valid key are refused and that no peer can harm a hub: unknown peers,
// impostors, and peers with an allowed key that speak ZeroMQ by hand.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zmq.h>

#include <charconv>

#include "core/base/random.h"
#include "core/net/zmq/link_testing.h"
#include "core/net/zmq/zmq_socket.h"

namespace tributary {
namespace {

using link_testing::Federation;
using link_testing::new_keys;
using link_testing::pump;
using link_testing::Side;
using link_testing::text;
using testing::HasSubstr;

std::uint64_t refused(const Side& side, RefusalReason reason) {
  return side.link->counters().refused_for(reason);
}

// A peer that follows ZeroMQ's rules but none of ours.
class Insider {
 public:
  Insider(const std::string& endpoint, const KeyPair& keys, const PublicKey& hub,
          std::string_view routing_id = {})
      : context_(zmq_ctx_new()), socket_(*ZmqSocket::open(context_, ZMQ_DEALER)) {
    if (!routing_id.empty()) set(ZMQ_ROUTING_ID, bytes_of(routing_id));
    set(ZMQ_CURVE_SERVERKEY, ByteSpan(hub.bytes));
    set(ZMQ_CURVE_PUBLICKEY, ByteSpan(keys.public_key.bytes));
    set(ZMQ_CURVE_SECRETKEY, keys.secret_key.bytes());
    EXPECT_TRUE(socket_.set(ZMQ_LINGER, 0).ok());
    EXPECT_EQ(zmq_connect(socket_.get(), endpoint.c_str()), 0);
  }
  ~Insider() {
    socket_.close();
    zmq_ctx_term(context_);
  }
  Insider(const Insider&) = delete;
  Insider& operator=(const Insider&) = delete;

  void send(const std::vector<std::string>& parts) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      ZmqMessage part(bytes_of(std::string_view(parts[i])));
      ASSERT_EQ(socket_.send_part(part, i + 1 < parts.size()), 0);
    }
  }

 private:
  void set(int option, ByteSpan value) { EXPECT_TRUE(socket_.set(option, value).ok()); }

  void* context_;
  ZmqSocket socket_;
};

// A TCP connection that sends arbitrary bytes.
class Stranger {
 public:
  explicit Stranger(const std::string& endpoint) : file_(::socket(AF_INET, SOCK_STREAM, 0)) {
    std::uint16_t port = 0;
    const std::string digits = endpoint.substr(endpoint.rfind(':') + 1);
    std::from_chars(digits.data(), digits.data() + digits.size(), port);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(file_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }
  ~Stranger() { ::close(file_); }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;

  void send(ByteSpan bytes) const {
    // The hub may have closed the connection by now.
    [[maybe_unused]] const ssize_t sent = ::send(file_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }

 private:
  int file_;
};

class Security : public testing::Test {
 protected:
  // Expects that the hub still serves an allowed spoke.
  void expect_service(Side& hub) {
    Side good = federation_.allowed_spoke("good");
    const std::size_t before = hub.count<Received>();
    ASSERT_TRUE(pump({&hub, &good}, [&] { return good.connected(); }));
    ASSERT_TRUE(good.send("still here?").ok());
    ASSERT_TRUE(pump({&hub, &good}, [&] { return hub.count<Received>() > before; }));
    EXPECT_EQ(text(hub.last<Received>()->frame), "still here?");
  }

  Federation federation_;
};

// The refusal has the key as text, so that an operator can copy it into the allow-list.
TEST_F(Security, AnUnknownKeyIsRefusedAndNamed) {
  Side hub = federation_.hub();
  const KeyPair keys = new_keys();
  Side spoke = Federation::spoke(federation_.spoke_options(keys));
  ASSERT_TRUE(pump({&hub, &spoke},
                   [&] { return hub.count<Refused>() >= 1 && spoke.count<Unreachable>() >= 1; }));
  EXPECT_EQ(hub.last<Refused>()->reason, RefusalReason::unknown_key);
  EXPECT_THAT(hub.last<Refused>()->source, HasSubstr(key_text(keys.public_key)));
  EXPECT_THAT(hub.last<Refused>()->source, HasSubstr("127.0.0.1"));
  EXPECT_THAT(spoke.last<Unreachable>()->why.text(), HasSubstr("allow-list"));
  EXPECT_EQ(spoke.last<Unreachable>()->why.code(), StatusCode::permission_denied);
  EXPECT_EQ(hub.count<Connected>(), 0u);
  // Once its key is allowed, the spoke connects without further help.
  federation_.allowed->allow(keys.public_key, "late");
  ASSERT_TRUE(pump({&hub, &spoke}, [&] { return hub.connected() && spoke.connected(); }));
}

// A message that was sent after the change does not count.
TEST_F(Security, ARevokedKeyIsCutOffAndStaysOut) {
  Side hub = federation_.hub();
  const KeyPair keys = federation_.allowed_keys();
  std::optional<Side> spoke = Federation::spoke(federation_.spoke_options(keys));
  ASSERT_TRUE(pump({&hub, &*spoke}, [&] { return hub.connected() && spoke->connected(); }));
  federation_.allowed->revoke(keys.public_key);
  ASSERT_TRUE(spoke->send("am I still in?").ok());
  ASSERT_TRUE(pump({&hub, &*spoke}, [&] { return hub.count<Disconnected>() == 1; }));
  EXPECT_EQ(hub.count<Received>(), 0u);
  EXPECT_EQ(refused(hub, RefusalReason::revoked), 1u);
  EXPECT_EQ(hub.send("no").code(), StatusCode::unavailable);
  spoke = Federation::spoke(federation_.spoke_options(keys));
  ASSERT_TRUE(pump({&hub, &*spoke}, [&] { return spoke->count<Unreachable>() >= 1; }));
  EXPECT_EQ(hub.count<Connected>(), 1u);
}

// The spoke knows the hub's key, so a machine that took over the address gets nothing.
TEST_F(Security, ASpokeTalksToNoOtherHub) {
  Side hub = federation_.hub();
  SpokeOptions options = federation_.spoke_options(federation_.allowed_keys());
  options.hub = new_keys().public_key;
  Side spoke = Federation::spoke(options);
  ASSERT_TRUE(pump({&hub, &spoke}, [&] {
    return spoke.count<Unreachable>() >= 1 && refused(hub, RefusalReason::failed_handshake) >= 1;
  }));
  EXPECT_EQ(hub.count<Connected>(), 0u);
  EXPECT_EQ(spoke.count<Connected>(), 0u);
  EXPECT_THAT(spoke.last<Unreachable>()->why.text(), HasSubstr("handshake"));
  EXPECT_EQ(spoke.last<Unreachable>()->why.code(), StatusCode::mismatch);
}

// A spoke without encryption finds no weaker mode at an encrypted hub.
TEST_F(Security, ThereIsNoWayAroundEncryption) {
  Side hub = federation_.hub();
  SpokeOptions options = federation_.spoke_options(federation_.allowed_keys());
  options.encrypted = false;
  Side open_spoke = Federation::spoke(options);
  ASSERT_TRUE(pump({&hub, &open_spoke}, [&] {
    return open_spoke.count<Unreachable>() >= 1 &&
           refused(hub, RefusalReason::failed_handshake) >= 1;
  }));
  EXPECT_EQ(hub.count<Connected>(), 0u);
}

// An agent must not be downgraded by a hub that does not encrypt.
TEST_F(Security, AnOpenHubGetsNothingFromASpokeThatEncrypts) {
  federation_.encrypted = false;
  Side hub = federation_.hub();
  federation_.encrypted = true;
  Side spoke = federation_.allowed_spoke();
  ASSERT_TRUE(pump({&hub, &spoke}, [&] { return spoke.count<Unreachable>() >= 1; }));
  EXPECT_EQ(hub.count<Connected>() + spoke.count<Connected>(), 0u);
}

// A peer with an allowed key may still be faulty. The good message after six bad ones arrives.
TEST_F(Security, MalformedMessagesAreCountedAndDropped) {
  federation_.limits.frame_bytes_max = 1000;
  federation_.limits.payload_bytes_max = 500;
  Side hub = federation_.hub();
  Insider insider(federation_.endpoint, federation_.allowed_keys("bad"),
                  federation_.hub_keys.public_key);
  insider.send({"a", "b", "c"});
  insider.send({"", "payload"});
  insider.send({"frame", ""});
  insider.send(std::vector<std::string>(500, "x"));
  insider.send({std::string(1001, 'f')});
  insider.send({"frame", std::string(501, 'p')});
  insider.send({""});
  insider.send({"good", "payload"});
  ASSERT_TRUE(pump({&hub}, [&] { return hub.count<Received>() == 1; }));
  EXPECT_EQ(text(hub.last<Received>()->frame), "good");
  EXPECT_EQ(refused(hub, RefusalReason::bad_parts), 4u);
  EXPECT_EQ(refused(hub, RefusalReason::frame_too_large), 1u);
  EXPECT_EQ(refused(hub, RefusalReason::payload_too_large), 1u);
  EXPECT_EQ(hub.count<Refused>(), 6u);
  expect_service(hub);
}

// libzmq refuses a part above its limit before it reads the content, so no memory is spent on it.
TEST_F(Security, AnOversizedPartEndsItsConnection) {
  federation_.limits.frame_bytes_max = 1000;
  federation_.limits.payload_bytes_max = 5000;
  Side hub = federation_.hub();
  const KeyPair keys = federation_.allowed_keys("bad");
  Insider insider(federation_.endpoint, keys, federation_.hub_keys.public_key);
  insider.send({"hello"});
  ASSERT_TRUE(pump({&hub}, [&] { return hub.count<Received>() == 1; }));
  const Bytes large(1'000'000, 'p');
  insider.send({"frame", text(large)});
  ASSERT_TRUE(pump({&hub}, [&] { return hub.count<Disconnected>() >= 1; }));
  EXPECT_EQ(hub.count<Received>(), 1u);
  expect_service(hub);
}

// The claims are the victim's key, a route as libzmq would assign it, and any other text.
TEST_F(Security, NoKeyTakesOverAnothersRoute) {
  Side hub = federation_.hub();
  Side victim = federation_.allowed_spoke("victim");
  ASSERT_TRUE(pump({&hub, &victim}, [&] { return hub.connected() && victim.connected(); }));
  const KeyPair bad = federation_.allowed_keys("bad");
  const std::string victims_key = key_text(hub.last<Connected>()->peer);
  for (const std::string& claim : {victims_key, victims_key.substr(0, 5), std::string("x")}) {
    Insider insider(federation_.endpoint, bad, federation_.hub_keys.public_key, claim);
    const std::uint64_t before = refused(hub, RefusalReason::claimed_route);
    insider.send({"I am the victim"});
    ASSERT_TRUE(
        pump({&hub, &victim}, [&] { return refused(hub, RefusalReason::claimed_route) > before; }));
  }
  EXPECT_EQ(hub.count<Received>(), 0u);
  EXPECT_EQ(hub.count<Connected>(), 1u);
  ASSERT_TRUE(hub.send("for the victim").ok());
  ASSERT_TRUE(pump({&hub, &victim}, [&] { return victim.count<Received>() == 1; }));
}

// A third of 60 connections each: bytes at random, a valid greeting first, and an HTTP request
// first. The bytes have a fixed seed.
TEST_F(Security, GarbageAtTheOpenPortIsRefusedAndServiceContinues) {
  federation_.times.handshake_max = std::chrono::milliseconds(200);
  Side hub = federation_.hub();
  const StreamKey draws = stream_key({.job_seed = 1, .purpose = DrawPurpose::synthetic_data});
  // The greeting of a ZMTP 3.0 peer, so that some connections pass the first checks.
  const std::string greeting = std::string("\xff\0\0\0\0\0\0\0\x01\x7f\x03\0", 12) + "CURVE" +
                               std::string(15, '\0') + std::string(32, '\0');
  std::vector<std::unique_ptr<Stranger>> strangers;
  for (std::uint32_t i = 0; i < 60; ++i) {
    strangers.push_back(std::make_unique<Stranger>(federation_.endpoint));
    Bytes garbage(i * 97 % 5000);
    for (std::uint32_t k = 0; k < garbage.size(); ++k) {
      garbage[k] = static_cast<std::uint8_t>(random_bits(draws, i * 5000 + k));
    }
    if (i % 3 == 1) strangers.back()->send(bytes_of(std::string_view(greeting)));
    if (i % 3 == 2) strangers.back()->send(bytes_of("GET / HTTP/1.1\r\n\r\n"));
    strangers.back()->send(garbage);
  }
  expect_service(hub);
  // Connections that send nothing are closed as well.
  ASSERT_TRUE(pump(
      {&hub}, [&] { return refused(hub, RefusalReason::failed_handshake) >= strangers.size(); }));
  EXPECT_EQ(hub.count<Connected>(), 1u);
}

// A device in a restart loop must not occupy the hub with handshakes.
TEST_F(Security, ASpokeThatConnectsTooOftenHasToWait) {
  Side hub = federation_.hub();
  const KeyPair keys = federation_.allowed_keys("nervous");
  const auto has_to_wait = [&] { return refused(hub, RefusalReason::too_many_knocks) > 0; };
  for (std::uint32_t i = 0; i < 10 * Gate::kKnocksAtOnce && !has_to_wait(); ++i) {
    Side spoke = Federation::spoke(federation_.spoke_options(keys));
    ASSERT_TRUE(pump({&hub, &spoke}, [&] { return hub.count<Connected>() > i || has_to_wait(); }));
  }
  EXPECT_TRUE(has_to_wait());
  ASSERT_TRUE(pump({&hub}, [&] { return hub.count<Refused>() >= 1; }));
  EXPECT_GE(hub.count<Connected>(), Gate::kKnocksAtOnce);
  expect_service(hub);
}

}  // namespace
}  // namespace tributary
