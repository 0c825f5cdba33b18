// Tests of an agent's link to its peers over real connections on loopback.
#include "core/service/peer_link.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/net/shaped/shaped_peer_port.h"
#include "core/service/peer_link_testing.h"

namespace tributary {
namespace {

using service_testing::filled;
using service_testing::Inbox;
using service_testing::PeerEvent;
using std::chrono::milliseconds;

// The members of one process, each with its thread, with keys or without.
class PeerLinkTest : public testing::TestWithParam<bool> {
 protected:
  // Opens the links of all members, on shaped links if `line` is given.
  void make(std::uint32_t members, const PeerLinkOptions& common = {},
            const std::optional<ShapedOptions>& line = {}) {
    for (std::uint32_t i = 0; i < members; ++i) {
      PeerLinkOptions options = common;
      keys_.push_back(std::make_shared<const KeyPair>(*make_key_pair()));
      if (GetParam()) options.keys = keys_[i];
      inboxes_.push_back(std::make_unique<Inbox>());
      Result<std::unique_ptr<PeerPort>> port = open_tcp_peer_port("tcp://127.0.0.1:0", {}, clock_);
      ASSERT_TRUE(port.ok()) << port.status().text();
      if (line) port = make_shaped_peer_port(std::move(*port), clock_, *line);
      ASSERT_TRUE(port.ok()) << port.status().text();
      links_.push_back(PeerLink::make_over(
          std::move(*port), options, clock_,
          [inbox = inboxes_[i].get()](Event event, std::shared_ptr<const void> owner) {
            inbox->post(std::move(event), std::move(owner));
          }));
    }
  }
  // The epoch as member `member` receives it from the coordinator.
  OpenPeers epoch(std::uint64_t session, std::uint32_t member) {
    OpenPeers peers{.session = session, .member = member, .members = {}};
    for (std::uint32_t i = 0; i < links_.size(); ++i) {
      OpenPeers::Member& other = peers.members.emplace_back();
      if (GetParam()) {
        other.public_key.assign(keys_[i]->public_key.bytes.begin(),
                                keys_[i]->public_key.bytes.end());
      }
      other.agent_id = "agent-" + std::to_string(i);
      other.endpoint = endpoints_.size() > i ? endpoints_[i] : links_[i]->endpoint();
    }
    return peers;
  }
  void open_all(std::uint64_t session) {
    for (std::uint32_t i = 0; i < links_.size(); ++i) links_[i]->open(epoch(session, i));
  }
  void send(std::uint32_t from, std::uint32_t to, std::string_view frame, Bytes payload = {}) {
    const ByteSpan bytes = bytes_of(frame);
    links_[from]->send({.member = to,
                        .frame = {bytes.begin(), bytes.end()},
                        .payload = SharedSlice(std::move(payload))});
  }
  PeerEvent next(std::uint32_t member) { return inboxes_[member]->next(); }

  SystemClock clock_;
  std::vector<std::shared_ptr<const KeyPair>> keys_;
  std::vector<std::string> endpoints_;  // also of members that have ended
  std::vector<std::unique_ptr<Inbox>> inboxes_;
  std::vector<std::unique_ptr<PeerLink>> links_;
};

// Payloads have the lengths 0 to 49, so a swapped pair would be noticed.
TEST_P(PeerLinkTest, MessagesGoBothWaysInTheirOrder) {
  make(3);
  open_all(7);
  constexpr int kMessages = 50;
  for (int i = 0; i < kMessages; ++i) {
    send(0, 1, "to " + std::to_string(i), filled(static_cast<std::size_t>(i), 1));
    send(1, 0, "back " + std::to_string(i));
  }
  for (int i = 0; i < kMessages; ++i) {
    const PeerEvent to = next(1);
    EXPECT_EQ(to.session, 7u);
    EXPECT_EQ(to.from, 0u);
    EXPECT_EQ(to.frame, "to " + std::to_string(i));
    EXPECT_TRUE(std::ranges::equal(to.payload.view(), filled(static_cast<std::size_t>(i), 1)));
    EXPECT_EQ(next(0).frame, "back " + std::to_string(i));
  }
  send(2, 0, "and I");
  EXPECT_EQ(next(0).from, 2u);
}

// Eight of the largest payloads in one direction while a short message goes in the other.
TEST_P(PeerLinkTest, LargePayloadsArriveAndAreCounted) {
  make(2);
  open_all(7);
  for (std::uint8_t i = 0; i < 8; ++i) {
    send(0, 1, std::to_string(i), filled(wire::kPayloadBytesMax, i));
  }
  send(1, 0, "meanwhile");
  EXPECT_EQ(next(0).frame, "meanwhile");
  for (std::uint8_t i = 0; i < 8; ++i) {
    const PeerEvent event = next(1);
    EXPECT_EQ(event.frame, std::to_string(i));
    EXPECT_TRUE(std::ranges::equal(event.payload.view(), filled(wire::kPayloadBytesMax, i)));
  }
  EXPECT_GT(links_[1]->counters().bytes_in, 8 * wire::kPayloadBytesMax);
}

TEST_P(PeerLinkTest, TheLinkFromAPeerIsMeasuredByItsMessages) {
  // A shaped link is needed because, over plain loopback, it is random whether a payload is in the
  // buffer before its reader.
  ShapedOptions line;
  line.in.bytes_per_s = 100'000'000;
  make(2, {}, line);
  open_all(7);
  EXPECT_TRUE(links_[1]->take_measured(10).empty());
  std::optional<PeerMeasured> known;
  for (int i = 0; i < 500 && !(known && known->link.beta_s_per_byte.known()); ++i) {
    send(0, 1, "payload", filled(wire::kPayloadBytesMax, 1));
    EXPECT_EQ(next(1).frame, "payload");
    for (PeerMeasured& peer : links_[1]->take_measured(10)) known = std::move(peer);
  }
  ASSERT_TRUE(known);
  EXPECT_EQ(known->agent_id, "agent-0");
  EXPECT_GT(known->link.beta_s_per_byte.value, 0);
#ifdef __linux__
  EXPECT_GT(known->link.alpha_s.value, 0);
  EXPECT_LT(known->link.alpha_s.value, 1);
#endif
  EXPECT_TRUE(links_[1]->take_measured(10).empty()) << "nothing new";
  EXPECT_TRUE(links_[0]->take_measured(10).empty()) << "it was sent nothing";
}

// All members open epoch 8 while messages of epoch 7 may still be in transit.
TEST_P(PeerLinkTest, AnEpochReplacesTheOneBefore) {
  make(3);
  open_all(7);
  send(0, 1, "first");
  EXPECT_EQ(next(1).frame, "first");
  open_all(8);
  // A connected member may notice the end of an epoch before its own next epoch begins.
  const auto next_of_8 = [&](std::uint32_t member) {
    PeerEvent event = next(member);
    while (event.session == 7) event = next(member);
    return event;
  };
  send(0, 1, "second");
  send(1, 2, "third");
  const PeerEvent second = next_of_8(1);
  EXPECT_EQ(second.session, 8u);
  EXPECT_EQ(second.frame, "second");
  EXPECT_EQ(next_of_8(2).frame, "third");
}

// A member number means nothing outside an epoch.
TEST_P(PeerLinkTest, WithoutAnEpochNothingIsSent) {
  make(2);
  send(0, 1, "to nobody");
  open_all(7);
  links_[0]->close();
  send(0, 1, "to nobody either");
  links_[0]->open(epoch(7, 0));
  send(0, 1, "there");
  EXPECT_EQ(next(1).frame, "there");
}

// Each of the others gets one event, and their own exchange continues.
TEST_P(PeerLinkTest, AMemberThatEndsIsLostAtTheOthers) {
  make(3);
  open_all(7);
  send(0, 1, "to you");
  send(1, 2, "and on");
  EXPECT_EQ(next(1).frame, "to you");
  EXPECT_EQ(next(2).frame, "and on");
  links_[1]->close();
  for (const std::uint32_t other : {0u, 2u}) {
    const PeerEvent lost = next(other);
    EXPECT_FALSE(lost.lost.ok());
    EXPECT_EQ(lost.from, 1u);
    EXPECT_EQ(lost.session, 7u);
  }
  send(0, 2, "we go on");
  EXPECT_EQ(next(2).frame, "we go on");
  EXPECT_EQ(inboxes_[0]->size(), 0u) << "once is enough";
}

// Its port is closed, so attempts are refused for 100 ms and then given up.
TEST_P(PeerLinkTest, AnAbsentMemberIsLost) {
  make(2, {.endpoint = {}, .refused_max = milliseconds(100)});
  for (const auto& link : links_) endpoints_.push_back(link->endpoint());
  links_[1].reset();
  links_[0]->open(epoch(7, 0));
  send(0, 1, "are you there?");
  const PeerEvent lost = next(0);
  EXPECT_EQ(lost.from, 1u);
  EXPECT_EQ(lost.lost.code(), StatusCode::deadline_exceeded) << lost.lost.text();
}

// The machine must not wait for an epoch that does not exist. The next epoch works.
TEST_P(PeerLinkTest, AFailedOpenLosesAllPeers) {
  make(3);
  OpenPeers bad = epoch(7, 1);
  bad.members[2].endpoint = "tcp://somewhere:1";
  links_[1]->open(bad);
  send(1, 0, "goes nowhere");
  EXPECT_EQ(next(1).from, 0u);
  const PeerEvent lost = next(1);
  EXPECT_EQ(lost.from, 2u);
  EXPECT_EQ(lost.lost.code(), StatusCode::invalid_argument) << lost.lost.text();
  open_all(8);
  send(1, 0, "now");
  EXPECT_EQ(next(0).frame, "now");
}

// Three messages of 1,000 bytes reach the bound of 3,000, so the sender has to wait for the
// receiver.
TEST_P(PeerLinkTest, NothingIsReadWhileMuchIsUnread) {
  make(2, {.endpoint = {}, .unread_bytes_max = 3000});
  inboxes_[1]->keep_owners();
  open_all(7);
  for (int i = 0; i < 10; ++i) send(0, 1, std::to_string(i), filled(1000, 0));
  // Three messages reach the bound. The others arrive after these were released.
  for (int i = 0; i < 3; ++i) EXPECT_EQ(next(1).frame, std::to_string(i));
  int count = 3;
  while (count < 10) {
    EXPECT_EQ(inboxes_[1]->size(), 0u);
    ASSERT_EQ(inboxes_[1]->let_go(), 3u);
    for (int i = 0; i < 3 && count < 10; ++i) EXPECT_EQ(next(1).frame, std::to_string(count++));
  }
}

// The state machine may still hold a payload when the agent leaves the epoch.
TEST_P(PeerLinkTest, AMessageMayOutliveTheLink) {
  make(2);
  inboxes_[1]->keep_owners();
  open_all(7);
  send(0, 1, "kept");
  EXPECT_EQ(next(1).frame, "kept");
  links_[1].reset();
  EXPECT_EQ(inboxes_[1]->let_go(), 1u);
}

// 64 MiB for a member that does not read exceed 8 MiB. The session ends for all members, since the
// exchange cannot succeed.
TEST_P(PeerLinkTest, TooMuchThatWaitsEndsTheSession) {
  make(3, {.endpoint = {}, .unread_bytes_max = 1, .unsent_bytes_max = 8u << 20});
  inboxes_[1]->keep_owners();  // member 1 reads one message and no more
  open_all(7);
  for (int i = 0; i < 64; ++i) send(0, 1, "more", filled(1u << 20, 0));
  for (const std::uint32_t member : {1u, 2u}) {
    const PeerEvent lost = next(0);
    EXPECT_EQ(lost.from, member);
    EXPECT_EQ(lost.lost.code(), StatusCode::resource_exhausted) << lost.lost.text();
  }
  inboxes_[1]->let_go();
  open_all(8);
  send(0, 2, "again");
  EXPECT_EQ(next(2).frame, "again");
}

// One member is connecting for an hour, the other has a full inbox. The test would time out if the
// end waited for either.
TEST_P(PeerLinkTest, EndsAtOnceInEveryState) {
  make(2, {.endpoint = {},
           .unread_bytes_max = 1,
           .connect_max = std::chrono::hours(1),
           .refused_max = std::chrono::hours(1)});
  endpoints_ = {links_[0]->endpoint(), "tcp://127.0.0.1:1"};
  inboxes_[0]->keep_owners();
  links_[0]->open(epoch(7, 0));
  send(0, 1, "dials for an hour", filled(1000, 0));
  links_[1]->open(epoch(7, 1));
  send(1, 0, "never let go of");
  EXPECT_EQ(next(0).frame, "never let go of");
  links_.clear();
}

// Peers get this address from the coordinator, so a wildcard or a name would mislead them.
TEST_P(PeerLinkTest, APortThatOthersCannotUseIsRefused) {
  const auto made = [&](const char* endpoint, const char* advertise) {
    return PeerLink::make({.endpoint = endpoint, .advertise = advertise}, clock_, nullptr);
  };
  for (const char* const bad : {"tcp://0.0.0.0:0", "tcp://[::]:0", "tcp://lan:0", ""}) {
    EXPECT_EQ(made(bad, "").status().code(), StatusCode::invalid_argument) << bad;
  }
  EXPECT_EQ(made("tcp://0.0.0.0:0", "tcp://192.0.2.7:0").status().code(),
            StatusCode::invalid_argument);
  const auto behind = made("tcp://0.0.0.0:0", "tcp://192.0.2.7:4650");
  ASSERT_TRUE(behind.ok()) << behind.status().text();
  EXPECT_EQ((*behind)->endpoint(), "tcp://192.0.2.7:4650");
  const auto plain = made("tcp://127.0.0.1:0", "");
  ASSERT_TRUE(plain.ok());
  EXPECT_FALSE((*plain)->endpoint().ends_with(":0")) << "the port that was picked";
}

INSTANTIATE_TEST_SUITE_P(Ways, PeerLinkTest, testing::Bool(),
                         [](const auto& test) { return test.param ? "Encrypted" : "Open"; });

class PeerLinkKeys : public PeerLinkTest {};

// The coordinator has told member 0 a key that member 1 does not have.
TEST_P(PeerLinkKeys, AnotherKeyIsRefused) {
  make(2, {.endpoint = {}, .connect_max = milliseconds(300)});
  links_[1]->open(epoch(7, 1));
  links_[0]->open([&] {
    OpenPeers peers = epoch(7, 0);
    const PublicKey other = make_key_pair()->public_key;
    peers.members[1].public_key.assign(other.bytes.begin(), other.bytes.end());
    return peers;
  }());
  send(1, 0, "I am member 1");
  const PeerEvent lost = next(1);
  EXPECT_EQ(lost.from, 0u);
  EXPECT_FALSE(lost.lost.ok());
  EXPECT_GE(links_[0]->counters().refused, 1u);
  EXPECT_FALSE(links_[0]->take_refused().empty());
  EXPECT_TRUE(links_[0]->take_refused().empty());
  EXPECT_EQ(inboxes_[0]->size(), 0u);
}

// An encrypted mesh must not fall back to an unencrypted connection.
TEST_P(PeerLinkKeys, AMemberWithoutAKeyIsNoMember) {
  make(2);
  OpenPeers peers = epoch(7, 0);
  peers.members[1].public_key.clear();
  links_[0]->open(peers);
  EXPECT_EQ(next(0).lost.code(), StatusCode::mismatch);
}

INSTANTIATE_TEST_SUITE_P(Ways, PeerLinkKeys, testing::Values(true),
                         [](const auto&) { return "Encrypted"; });

}  // namespace
}  // namespace tributary
