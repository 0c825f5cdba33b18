// Tests of the mesh over real TCP connections on loopback, with and without TLS.
#include "core/net/mesh/tcp/mesh.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <deque>
#include <functional>
#include <optional>
#include <string_view>
#include <thread>

#include "core/net/mesh/tcp/mesh_socket.h"
#include "core/net/mesh/tcp/mesh_stream.h"

namespace tributary {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Bytes text(std::string_view words) {
  const ByteSpan bytes = bytes_of(words);
  return {bytes.begin(), bytes.end()};
}

// `bytes` bytes, of which the first has the value `with`.
Bytes filled(std::size_t bytes, std::uint8_t with) {
  Bytes out(bytes);
  for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::uint8_t>(with + i % 251);
  return out;
}

// The meshes of all members in this process, served in turns.
class Meshes : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override { make(3); }

  // Prepares ports, keys and options for all members, without opening a mesh.
  void make(std::uint32_t members) {
    options_.clear();
    MeshOptions common;
    common.session = 77;
    for (std::uint32_t i = 0; i < members; ++i) {
      ports_.push_back(*MeshPort::open("tcp://127.0.0.1:0"));
      keys_.push_back(std::make_shared<const KeyPair>(*make_key_pair()));
      common.members.push_back({.endpoint = ports_[i]->endpoint(), .key = keys_[i]->public_key});
    }
    for (std::uint32_t i = 0; i < members; ++i) {
      options_.push_back(common);
      options_[i].rank = i;
      if (GetParam()) options_[i].keys = keys_[i];
    }
    meshes_.resize(members);
    seen_.resize(members);
  }
  // For tests that wait until a mesh gives up. Other tests keep the default limits, so that they
  // pass on a loaded machine.
  void give_up_soon() {
    for (MeshOptions& each : options_) {
      each.connect_max = milliseconds(300);
      each.handshake_max = milliseconds(300);
    }
  }
  void open(std::uint32_t member) {
    Result<std::unique_ptr<Transport>> mesh = open_mesh(*ports_[member], options_[member], clock_);
    ASSERT_TRUE(mesh.ok()) << mesh.status().text();
    meshes_[member] = std::move(*mesh);
  }
  void open_all() {
    for (std::uint32_t i = 0; i < options_.size(); ++i) open(i);
  }
  Status send(std::uint32_t from, std::uint32_t to, std::string_view frame, Bytes payload = {}) {
    return meshes_[from]->send(to, text(frame), SharedSlice(std::move(payload)));
  }
  // Serves all meshes until the condition holds. A minute suffices with sanitizers.
  bool turn_until(const std::function<bool()>& done) {
    const auto deadline = clock_.now() + seconds(60);
    while (!done()) {
      if (clock_.now() > deadline) return false;
      for (std::uint32_t i = 0; i < meshes_.size(); ++i) {
        if (!meshes_[i]) continue;
        Result<std::optional<LinkEvent>> event =
            meshes_[i]->receive(clock_.now() + milliseconds(1));
        EXPECT_TRUE(event.ok()) << event.status().text();
        if (event.ok() && *event) seen_[i].push_back(std::move(**event));
      }
    }
    return true;
  }
  // The first event of this type that the member has received.
  template <typename Kind>
  const Kind* first(std::uint32_t member) const {
    for (const LinkEvent& event : seen_[member]) {
      if (const auto* const found = std::get_if<Kind>(&event)) return found;
    }
    return nullptr;
  }

  SystemClock clock_;
  std::vector<std::unique_ptr<MeshPort>> ports_;
  std::vector<std::shared_ptr<const KeyPair>> keys_;
  std::vector<MeshOptions> options_;
  std::vector<std::unique_ptr<Transport>> meshes_;
  std::vector<std::deque<LinkEvent>> seen_;
};

// Payloads differ in length by sender, so a message of the wrong connection would be noticed.
// Connections are one-way: two to others and two from others.
TEST_P(Meshes, EverybodyReachesEverybody) {
  open_all();
  for (std::uint32_t from = 0; from < 3; ++from) {
    for (std::uint32_t to = 0; to < 3; ++to) {
      if (from == to) continue;
      ASSERT_TRUE(send(from, to, "hello", filled(100'000 + from, 3)).ok());
      ASSERT_TRUE(send(from, to, "bye").ok());
    }
  }
  ASSERT_TRUE(turn_until(
      [&] { return seen_[0].size() == 4 && seen_[1].size() == 4 && seen_[2].size() == 4; }));
  for (std::uint32_t to = 0; to < 3; ++to) {
    std::vector<int> received(3, 0);
    for (const LinkEvent& event : seen_[to]) {
      const auto& message = std::get<Received>(event);
      ASSERT_NE(message.connection, to);
      const bool hello = received[message.connection]++ == 0;
      EXPECT_EQ(message.frame, text(hello ? "hello" : "bye"));
      EXPECT_EQ(message.payload.size(), hello ? 100'000 + message.connection : 0u);
      if (hello) {
        EXPECT_TRUE(
            std::ranges::equal(message.payload.view(), filled(100'000 + message.connection, 3)));
      }
    }
  }
  EXPECT_EQ(meshes_[0]->waiting_bytes(), 0u);
  const LinkCounters counters = meshes_[0]->counters();
  EXPECT_EQ(counters.bytes_out, 2 * (100'000u + 8));
  EXPECT_EQ(counters.bytes_in, 100'001u + 100'002u + 2 * 8);
  EXPECT_GT(counters.wire_bytes_out, counters.bytes_out);
  EXPECT_EQ(counters.messages_in, 4u);
  EXPECT_EQ(counters.messages_out, 4u);
  EXPECT_EQ(counters.connections, 4u) << "one of each direction";
}

// 16 MiB exceed the kernel's buffers, so the mesh has to queue and to continue partial writes.
TEST_P(Meshes, ManyLargeMessagesKeepTheirOrder) {
  open_all();
  constexpr int kMessages = 16;
  // Made before the sends: a member that waits for the welcome must not wait for the allocation
  // too.
  std::vector<Bytes> payloads;
  for (int i = 0; i < kMessages; ++i) {
    payloads.push_back(filled(1u << 20, static_cast<std::uint8_t>(i)));
  }
  for (int i = 0; i < kMessages; ++i) {
    ASSERT_TRUE(
        send(0, 1, std::to_string(i), std::move(payloads[static_cast<std::size_t>(i)])).ok());
  }
  EXPECT_GT(meshes_[0]->waiting_bytes(), 0u) << "more than any socket holds";
  ASSERT_TRUE(turn_until([&] { return seen_[1].size() == kMessages; }));
  for (int i = 0; i < kMessages; ++i) {
    const auto& message = std::get<Received>(seen_[1][static_cast<std::size_t>(i)]);
    EXPECT_EQ(message.frame, text(std::to_string(i)));
    EXPECT_TRUE(
        std::ranges::equal(message.payload.view(), filled(1u << 20, static_cast<std::uint8_t>(i))));
  }
}

// The attempts of the first 20 ms get no answer.
TEST_P(Meshes, AMemberThatComesLaterIsFound) {
  open(0);
  ASSERT_TRUE(send(0, 1, "are you there?").ok());
  turn_until([&, until = clock_.now() + milliseconds(20)] { return clock_.now() > until; });
  open(1);
  ASSERT_TRUE(turn_until([&] { return first<Received>(1) != nullptr; }));
}

// The unsent bytes are reported, so that accounts of traffic stay exact.
TEST_P(Meshes, AnAbsentMemberIsLostInTheEnd) {
  give_up_soon();
  open(0);
  ports_[1].reset();
  ASSERT_TRUE(send(0, 1, "are you there?", filled(10, 0)).ok());
  ASSERT_TRUE(turn_until([&] { return first<Disconnected>(0) != nullptr; }));
  EXPECT_EQ(first<Disconnected>(0)->connection, 1u);
  EXPECT_GT(first<Disconnected>(0)->unsent_bytes, 10u);
  EXPECT_EQ(send(0, 1, "still not?").code(), StatusCode::unavailable);
  EXPECT_EQ(meshes_[0]->waiting_bytes(), 0u);
}

// A refusal comes from a machine that is reachable, so waiting longer is less likely to help.
TEST_P(Meshes, AnAddressWithoutAListenerIsGivenUpEarlier) {
  give_up_soon();
  options_[0].connect_max = std::chrono::hours(1);
  options_[0].refused_max = milliseconds(100);
  open(0);
  ports_[1].reset();
  ASSERT_TRUE(send(0, 1, "are you there?").ok());
  ASSERT_TRUE(turn_until([&] { return first<Disconnected>(0) != nullptr; }));
  EXPECT_NE(first<Disconnected>(0)->why.text().find("refused"), std::string::npos)
      << first<Disconnected>(0)->why.text();
}

// Members 0 and 2 have one connection with it, in opposite directions.
TEST_P(Meshes, ALeavingMemberIsNoticedOnBothSides) {
  open_all();
  ASSERT_TRUE(send(0, 1, "to you").ok());
  ASSERT_TRUE(send(1, 2, "and on").ok());
  ASSERT_TRUE(turn_until([&] { return first<Received>(1) && first<Received>(2); }));
  meshes_[1].reset();
  ASSERT_TRUE(turn_until([&] { return first<Disconnected>(0) && first<Disconnected>(2); }));
  EXPECT_EQ(first<Disconnected>(0)->connection, 1u);
  EXPECT_EQ(first<Disconnected>(2)->connection, 1u);
}

// The session is checked in the greeting, before any message is read.
TEST_P(Meshes, AnotherEpochIsAStranger) {
  give_up_soon();
  options_[0].session = 78;
  open_all();
  ASSERT_TRUE(send(0, 1, "from before").ok());
  ASSERT_TRUE(turn_until([&] { return first<Refused>(1) && first<Disconnected>(0); }));
  EXPECT_EQ(first<Received>(1), nullptr);
  EXPECT_GE(meshes_[1]->counters().refused_in_all(), 1u);
}

// Members do not begin an epoch at the same time.
TEST_P(Meshes, WhoIsStillInTheEpochBeforeIsFoundInTheNext) {
  options_[1].session = 76;
  open_all();
  ASSERT_TRUE(send(0, 1, "you will see", filled(100'000, 1)).ok());
  ASSERT_TRUE(turn_until([&] { return first<Refused>(1) != nullptr; }));
  EXPECT_GT(meshes_[0]->waiting_bytes(), 100'000u);
  meshes_[1].reset();
  options_[1].session = 77;
  open(1);
  ASSERT_TRUE(turn_until([&] { return first<Received>(1) != nullptr; }));
  EXPECT_EQ(first<Received>(1)->payload.size(), 100'000u);
  EXPECT_EQ(first<Disconnected>(0), nullptr);
  EXPECT_EQ(meshes_[0]->waiting_bytes(), 0u);
}

// Members know the address, so it must not change with every epoch.
TEST_P(Meshes, ThePortOutlivesAMesh) {
  open_all();
  ASSERT_TRUE(send(0, 1, "first").ok());
  ASSERT_TRUE(turn_until([&] { return first<Received>(1) != nullptr; }));
  for (auto& mesh : meshes_) mesh.reset();
  for (auto& seen : seen_) seen.clear();
  for (auto& options : options_) options.session = 79;
  open_all();
  ASSERT_TRUE(send(0, 1, "second").ok());
  ASSERT_TRUE(turn_until([&] { return first<Received>(1) != nullptr; }));
  EXPECT_EQ(first<Received>(1)->frame, text("second"));
}

// An endless wait: the test would time out if wake() did nothing.
TEST_P(Meshes, WakeEndsAWait) {
  open(0);
  std::thread other([&] { meshes_[0]->wake(); });
  const auto event = meshes_[0]->receive(std::chrono::nanoseconds::max());
  other.join();
  ASSERT_TRUE(event.ok());
  EXPECT_FALSE(event->has_value());
}

// Each refusal is counted, so that a fault shows in the metrics.
TEST_P(Meshes, RefusesWhatCannotBeSent) {
  options_[0].limits.send_queue_bytes = 1000;
  open(0);
  EXPECT_EQ(send(0, 0, "to myself").code(), StatusCode::invalid_argument);
  EXPECT_EQ(send(0, 3, "to nobody").code(), StatusCode::invalid_argument);
  EXPECT_EQ(send(0, 1, "").code(), StatusCode::invalid_argument);
  EXPECT_EQ(send(0, 1, "large", filled(wire::kPayloadBytesMax + 1, 0)).code(),
            StatusCode::invalid_argument);
  EXPECT_TRUE(send(0, 1, "fits", filled(900, 0)).ok());
  EXPECT_EQ(send(0, 1, "does not", filled(900, 0)).code(), StatusCode::resource_exhausted);
  EXPECT_EQ(meshes_[0]->counters().sends_refused, 5u);
}

INSTANTIATE_TEST_SUITE_P(Ways, Meshes, testing::Bool(),
                         [](const auto& test) { return test.param ? "Encrypted" : "Open"; });

// --- peers that must be refused ----------------------------------------------------------------

class MeshStrangers : public Meshes {
 protected:
  // Sends these bytes to member 0 and waits until it closes the connection.
  void say(ByteSpan bytes) {
    const File socket(::socket(AF_INET, SOCK_STREAM, 0));
    const Address address = *parse_address(ports_[0]->endpoint());
    ASSERT_EQ(::connect(socket.get(), address.get(), address.bytes), 0);
    ASSERT_EQ(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
    const std::uint64_t before = meshes_[0]->counters().refused_in_all();
    ASSERT_TRUE(turn_until([&] { return meshes_[0]->counters().refused_in_all() > before; }));
    EXPECT_EQ(first<Received>(0), nullptr);
    EXPECT_EQ(first<Disconnected>(0), nullptr) << "a stranger must not take a member out";
  }
};

// Bytes at random, and a browser that found the port.
TEST_P(MeshStrangers, NoiseIsRefused) {
  give_up_soon();
  open(0);
  say(filled(100, 9));
  say(text("GET / HTTP/1.1\r\nHost: example\r\n\r\n"));
}

// A connection that says nothing would otherwise occupy a descriptor for ever.
TEST_P(MeshStrangers, SilenceIsRefusedInTime) {
  give_up_soon();
  open(0);
  say({});
}

class MeshKeys : public MeshStrangers {};

// An unencrypted greeting to a mesh that encrypts.
TEST_P(MeshKeys, AClaimWithoutAKeyIsRefused) {
  give_up_soon();
  open(0);
  say(mesh_greeting({.rank = 1, .session = 77}));
}

// The coordinator has told every member the keys of the others.
TEST_P(MeshKeys, AnotherKeyIsRefused) {
  give_up_soon();
  options_[1].keys = std::make_shared<const KeyPair>(*make_key_pair());
  open(0);
  open(1);
  ASSERT_TRUE(send(1, 0, "I am member 1").ok());
  ASSERT_TRUE(turn_until([&] { return first<Refused>(0) && first<Disconnected>(1); }));
  EXPECT_EQ(first<Received>(0), nullptr);
}

// A process with another key that claims to be the member.
TEST_P(MeshKeys, AMemberCannotSpeakForAnother) {
  give_up_soon();
  open(0);
  options_[1].rank = 2;
  open(1);
  ASSERT_TRUE(send(1, 0, "I am member 2").ok());
  ASSERT_TRUE(turn_until([&] { return first<Refused>(0) != nullptr; }));
  EXPECT_EQ(first<Received>(0), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Ways, MeshStrangers, testing::Bool(),
                         [](const auto& test) { return test.param ? "Encrypted" : "Open"; });

INSTANTIATE_TEST_SUITE_P(Ways, MeshKeys, testing::Values(true),
                         [](const auto&) { return "Encrypted"; });

// A wildcard address can be listened on, but another machine cannot connect to it. A port of 0 is
// chosen when listening begins.
TEST(MeshPort, OthersReceiveAnAddressTheyCanUse) {
  for (const char* const good :
       {"tcp://192.0.2.7:4650", "tcp://[2001:db8::7]:4650", "tcp://127.0.0.1:1"}) {
    EXPECT_TRUE(check_mesh_address(good, MeshAddressUse::advertise).ok()) << good;
  }
  for (const char* const bad : {"tcp://0.0.0.0:4650", "tcp://[::]:4650", "tcp://0:4650",
                                "tcp://[::ffff:0.0.0.0]:4650", "tcp://lan:4650", ""}) {
    EXPECT_EQ(check_mesh_address(bad, MeshAddressUse::listen_and_advertise).code(),
              StatusCode::invalid_argument)
        << bad;
  }
  const std::string later = "tcp://192.0.2.7:0";
  EXPECT_TRUE(check_mesh_address(later, MeshAddressUse::listen_and_advertise).ok());
  EXPECT_FALSE(check_mesh_address(later, MeshAddressUse::advertise).ok());
  EXPECT_TRUE(check_mesh_address("tcp://0.0.0.0:0", MeshAddressUse::listen).ok());
  EXPECT_FALSE(check_mesh_address("tcp://lan:4650", MeshAddressUse::listen).ok());
}

// Names are not resolved here: a lookup could block the loop of the agent. IPv6 may be missing on
// the machine.
TEST(MeshPort, RefusesWhatIsNoAddress) {
  for (const char* const bad : {"", "127.0.0.1:1", "tcp://localhost:1", "tcp://127.0.0.1",
                                "tcp://:4650", "tcp://127.0.0.1:", "tcp://127.0.0.1:x"}) {
    EXPECT_EQ(MeshPort::open(bad).status().code(), StatusCode::invalid_argument) << bad;
  }
  const auto port = MeshPort::open("tcp://[::1]:0");
  if (port.ok()) {
    EXPECT_TRUE((*port)->endpoint().starts_with("tcp://[::1]:"));
  }
}

}  // namespace
}  // namespace tributary
