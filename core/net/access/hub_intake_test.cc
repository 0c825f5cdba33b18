// Tests of a hub's decisions about messages and connection events in all relevant orders, without
// sockets.
#include "core/net/access/hub_intake.h"

#include <gmock/gmock.h>

namespace tributary {
namespace {

PublicKey peer_key(std::uint8_t number) {
  PublicKey key;
  key.bytes.fill(number);
  return key;
}

// Limits are small: 10 bytes per frame, 20 per payload, two connections per key, and an end is
// reported after four messages at the latest. Keys 1 to 3 are allowed.
class Intake : public testing::Test {
 protected:
  void SetUp() override {
    for (std::uint8_t i = 1; i <= 3; ++i) allowed_->allow(peer_key(i), "agent");
  }

  struct Message {
    std::uint8_t key = 1;
    std::uint8_t route = 1;
    int descriptor = 7;
    std::vector<std::string> parts = {"frame"};
  };
  // Hands in a message as libzmq would. `learn` runs when the intake asks for pending socket
  // events, so a test decides what is known by then.
  HubIntake::Taken take(
      const Message& message, const std::function<void()>& learn = [] {}) {
    user_id_ = key_text(peer_key(message.key));
    route_ = Bytes{0, 0, 0, 0, message.route};
    if (!encrypted_) {
      const std::string route = claimed_route(peer_key(message.key));
      const ByteSpan span = bytes_of(std::string_view(route));
      route_.assign(span.begin(), span.end());
    }
    kept_ = message.parts;
    std::vector<ByteSpan> parts;
    for (const std::string& part : kept_) parts.push_back(bytes_of(std::string_view(part)));
    return intake().take({.user_id = encrypted_ ? std::string_view(user_id_) : std::string_view(),
                          .descriptor = message.descriptor,
                          .route = route_,
                          .parts = parts},
                         learn);
  }
  HubIntake& intake() {
    if (!intake_) {
      intake_.emplace(HubIntake::Options{.encrypted = encrypted_,
                                         .limits = {.frame_bytes_max = 10, .payload_bytes_max = 20},
                                         .connections_per_key_max = 2,
                                         .patience_messages = 4},
                      allowed_);
    }
    return *intake_;
  }
  // The events as texts: "+1" connected, "-1" disconnected, "!bad_parts" refused.
  std::vector<std::string> events() {
    std::vector<std::string> reported;
    while (intake().has_event()) {
      const LinkEvent event = intake().next_event();
      if (const auto* made = std::get_if<Connected>(&event)) {
        reported.push_back("+" + std::to_string(made->connection));
      } else if (const auto* ended = std::get_if<Disconnected>(&event)) {
        reported.push_back("-" + std::to_string(ended->connection));
      } else if (const auto* refused = std::get_if<Refused>(&event)) {
        reported.push_back("!" + std::string(name(refused->reason)));
      }
    }
    return reported;
  }

  bool encrypted_ = true;
  std::shared_ptr<AllowList> allowed_ = std::make_shared<AllowList>();

 private:
  std::optional<HubIntake> intake_;
  std::string user_id_;
  Bytes route_;
  std::vector<std::string> kept_;
};

using testing::ElementsAre;
using testing::IsEmpty;

// The first message of a route makes the connection; the second one is only passed on.
TEST_F(Intake, PassesOnWellFormedMessages) {
  intake().accepted(7);
  const HubIntake::Taken taken = take({.parts = {"frame", "payload"}});
  EXPECT_EQ(taken.connection, 1u);
  EXPECT_EQ(taken.peer, peer_key(1));
  EXPECT_EQ(taken.parts.frame.size(), 5u);
  EXPECT_EQ(taken.parts.payload.size(), 7u);
  EXPECT_THAT(events(), ElementsAre("+1"));
  EXPECT_EQ(take({}).connection, 1u);
  EXPECT_THAT(events(), IsEmpty());
}

// A spoke greets with one empty part, so that the hub knows it before it has anything to say.
TEST_F(Intake, AGreetingIsAConnectionAndNoMessage) {
  intake().accepted(7);
  EXPECT_EQ(take({.parts = {""}}).connection, 0u);
  EXPECT_THAT(events(), ElementsAre("+1"));
  EXPECT_EQ(intake().route_of(1), std::string("\0\0\0\0\1", 5));
}

// A message has a frame and at most one payload, neither of them empty. Both limits are inclusive.
TEST_F(Intake, RefusesBadParts) {
  intake().accepted(7);
  for (const std::vector<std::string>& parts :
       std::vector<std::vector<std::string>>{{}, {"a", "b", "c"}, {"", "b"}, {"a", ""}, {"", ""}}) {
    EXPECT_EQ(take({.parts = parts}).connection, 0u);
    EXPECT_THAT(events(), ElementsAre("!bad_parts"));
  }
  EXPECT_EQ(take({.parts = {std::string(11, 'a')}}).connection, 0u);
  EXPECT_THAT(events(), ElementsAre("!frame_too_large"));
  EXPECT_EQ(take({.parts = {"a", std::string(21, 'b')}}).connection, 0u);
  EXPECT_THAT(events(), ElementsAre("!payload_too_large"));
  EXPECT_EQ(take({.parts = {std::string(10, 'a'), std::string(20, 'b')}}).connection, 1u);
  EXPECT_EQ(intake().refusals()[static_cast<std::size_t>(RefusalReason::bad_parts)], 5u);
}

// The user id is the key that libzmq has authenticated. Without a valid one, nothing identifies the
// peer.
TEST_F(Intake, NoPeerWithoutAnIdentity) {
  for (const std::string& user_id : {std::string(), std::string("me"), std::string(40, '~')}) {
    const Bytes route{0, 1, 2, 3, 4};
    const ByteSpan frame = bytes_of("frame");
    intake().take({.user_id = user_id, .descriptor = 7, .route = route, .parts = {&frame, 1}},
                  [] {});
    EXPECT_THAT(events(), ElementsAre("!not_identified"));
  }
  EXPECT_EQ(intake().connections(), 0u);
}

// Routes that libzmq assigns have five bytes, the first of them 0. A peer that picks one could pick
// another peer's.
TEST_F(Intake, ARouteThatThePeerPickedIsRefused) {
  const std::string user_id = key_text(peer_key(1));
  const ByteSpan frame = bytes_of("frame");
  for (const Bytes& route :
       {Bytes{'a', 'b', 'c', 'd', 'e'}, Bytes{0, 1, 2, 3}, Bytes{0, 1, 2, 3, 4, 5}, Bytes{}}) {
    intake().take({.user_id = user_id, .descriptor = 7, .route = route, .parts = {&frame, 1}},
                  [] {});
    EXPECT_THAT(events(), ElementsAre("!claimed_route"));
  }
}

// The connection ends with the first message after the change, and later messages do not revive it.
TEST_F(Intake, ARevokedKeyIsCutOffAtOnce) {
  intake().accepted(7);
  take({});
  events();
  allowed_->revoke(peer_key(1));
  EXPECT_EQ(take({}).connection, 0u);
  EXPECT_THAT(events(), ElementsAre("!revoked", "-1"));
  EXPECT_EQ(take({}).connection, 0u);
  EXPECT_THAT(events(), ElementsAre("!revoked"));
}

// A sender learns it from the empty route; the peer need not send anything first.
TEST_F(Intake, NothingIsSentToARevokedKey) {
  intake().accepted(7);
  take({});
  events();
  allowed_->revoke(peer_key(1));
  EXPECT_EQ(intake().route_of(1), "");
  EXPECT_THAT(events(), ElementsAre("-1"));
}

// Socket events overtake messages that are still in libzmq's queue.
TEST_F(Intake, MessagesBeforeTheEndAreReportedBeforeIt) {
  intake().accepted(7);
  take({});
  intake().closed(7);
  EXPECT_EQ(take({}).connection, 1u);
  EXPECT_THAT(events(), ElementsAre("+1"));
  intake().nothing_left();
  EXPECT_THAT(events(), ElementsAre("-1"));
  EXPECT_EQ(intake().route_of(1), "");
}

// Under load the queue is never empty, so ends are also reported after `patience_messages`
// messages.
TEST_F(Intake, EndsAreReportedWhileOtherConnectionsSend) {
  intake().accepted(7);
  intake().accepted(8);
  take({});
  take({.key = 2, .route = 2, .descriptor = 8});
  events();
  intake().closed(7);
  for (int i = 0; i < 5; ++i) take({.key = 2, .route = 2, .descriptor = 8});
  EXPECT_THAT(events(), ElementsAre("-1"));
}

// The kernel reuses a descriptor at once. A message under it belongs to the connection that was
// accepted last.
TEST_F(Intake, ADescriptorIsUsedAgain) {
  intake().accepted(7);
  take({});
  events();
  const auto learn = [this] {
    intake().closed(7);
    intake().accepted(7);
  };
  EXPECT_EQ(take({.key = 2, .route = 2}, learn).connection, 2u);
  intake().nothing_left();
  EXPECT_THAT(events(), ElementsAre("+2", "-1"));
  EXPECT_EQ(take({.key = 2, .route = 2}).connection, 2u);
}

// The message was sent, so it counts although its sender has gone.
TEST_F(Intake, AConnectionThatIsGoneWhenItsFirstMessageIsRead) {
  const auto learn = [this] {
    intake().accepted(7);
    intake().closed(7);
  };
  EXPECT_EQ(take({}, learn).connection, 1u);
  intake().nothing_left();
  EXPECT_THAT(events(), ElementsAre("+1", "-1"));
}

// The first user of the descriptor never sent anything, which is a failed handshake.
TEST_F(Intake, OldEventsOfADescriptorDoNotAffectItsNextConnection) {
  const auto learn = [this] {  // a connection that sent nothing, then the one of this test
    intake().accepted(7);
    intake().closed(7);
    intake().accepted(7);
  };
  take({}, learn);
  intake().nothing_left();
  EXPECT_THAT(events(), ElementsAre("+1", "!failed_handshake"));
}

// An agent that reconnects must not be refused because of its own dead connections, so the oldest
// one goes.
TEST_F(Intake, AKeyHasFewConnectionsAndTheNewestStay) {
  for (std::uint8_t i = 1; i <= 3; ++i) {
    intake().accepted(i);
    take({.route = i, .descriptor = i});
  }
  EXPECT_THAT(events(), ElementsAre("+1", "+2", "-1", "+3"));
  EXPECT_EQ(intake().connections(), 2u);
}

// libzmq may assign a route again after its owner has gone.
TEST_F(Intake, ARouteOfAnotherKeyIsAnotherConnection) {
  intake().accepted(7);
  intake().accepted(8);
  take({});
  EXPECT_EQ(take({.key = 2, .descriptor = 8}).connection, 2u);
  EXPECT_THAT(events(), ElementsAre("+1", "-1", "+2"));
}

// The failed send and the socket's end are the same end, reported once.
TEST_F(Intake, ASendWithoutAReceiverIsAnEnd) {
  intake().accepted(7);
  take({});
  intake().lost(1);
  intake().closed(7);
  intake().nothing_left();
  EXPECT_THAT(events(), ElementsAre("+1", "-1"));
}

// The kernel's statistics are read through the descriptor. Read for another connection, they would
// be wrong figures.
TEST_F(Intake, ADescriptorIsThatOfAConnectionUntilItIsClosed) {
  intake().accepted(7);
  EXPECT_EQ(intake().descriptor_of(1), -1);
  take({});
  EXPECT_EQ(intake().descriptor_of(1), 7);
  intake().closed(7);
  EXPECT_EQ(intake().descriptor_of(1), -1) << "its end has not been reported, and is known";
  intake().accepted(7);
  EXPECT_EQ(intake().descriptor_of(1), -1);
  take({.key = 2, .route = 2});
  EXPECT_EQ(intake().descriptor_of(1), -1);
  EXPECT_EQ(intake().descriptor_of(2), 7);
  intake().nothing_left();
  EXPECT_EQ(intake().descriptor_of(2), 7);
  intake().lost(2);
  EXPECT_EQ(intake().descriptor_of(2), -1);
}

// In an open federation the route carries the claimed key. The allow-list still applies, and the
// newest connection of a key wins.
TEST_F(Intake, WithoutEncryptionTheClaimIsTheKey) {
  encrypted_ = false;
  intake().accepted(7);
  EXPECT_EQ(take({.key = 3}).peer, peer_key(3));
  EXPECT_THAT(events(), ElementsAre("+1"));
  EXPECT_EQ(take({.key = 9}).connection, 0u);
  EXPECT_THAT(events(), ElementsAre("!revoked"));
  intake().accepted(8);
  EXPECT_EQ(take({.key = 3, .descriptor = 8}).connection, 2u);
  EXPECT_THAT(events(), ElementsAre("-1", "+2"));
}

// The peer connects again with the same route and descriptor, and its greeting is read before the
// end of its old connection.
TEST_F(Intake, WithoutEncryptionAGreetingOnAClosedDescriptorIsANewConnection) {
  encrypted_ = false;
  intake().accepted(7);
  take({.parts = {""}});
  EXPECT_THAT(events(), ElementsAre("+1"));
  take({.parts = {""}}, [&] {
    intake().closed(7);
    intake().accepted(7);
  });
  EXPECT_THAT(events(), ElementsAre("-1", "+2"));
  EXPECT_EQ(take({}).connection, 2u);
  intake().nothing_left();
  EXPECT_THAT(events(), IsEmpty());
  EXPECT_EQ(intake().descriptor_of(2), 7);
}

// A connection that the gate has refused is already counted under its own reason.
TEST_F(Intake, AConnectionWithoutAMessageIsAFailedHandshake) {
  intake().accepted(7);
  intake().closed(7);
  EXPECT_THAT(events(), IsEmpty()) << "its first message may still be there to be read";
  intake().nothing_left();
  EXPECT_THAT(events(), ElementsAre("!failed_handshake"));
  intake().accepted(7);
  intake().turned_away();
  intake().closed(7);
  intake().closed(99);
  intake().nothing_left();
  EXPECT_THAT(events(), IsEmpty()) << "the gate has told of it";
}

// Twice: the first owner sent a message, good or bad, and the second one nothing. Only the silent
// one failed its handshake.
TEST_F(Intake, ANewOwnerOfADescriptorDoesNotSpeakForTheLast) {
  intake().accepted(7);
  const auto learn = [this] {
    intake().closed(7);
    intake().accepted(7);
  };
  take({}, learn);
  intake().nothing_left();
  EXPECT_THAT(events(), ElementsAre("+1", "!failed_handshake"));
  const auto learn_again = [this] {
    intake().closed(8);
    intake().accepted(8);
  };
  intake().accepted(8);
  take({.route = 2, .descriptor = 8, .parts = {}}, learn_again);
  intake().closed(8);
  intake().nothing_left();
  EXPECT_THAT(events(), ElementsAre("!bad_parts", "!failed_handshake"))
      << "only the first of the two was silent";
}

// The end is known before the message is read.
TEST_F(Intake, AClosedConnectionWithAMessageDidShakeHands) {
  intake().accepted(7);
  intake().closed(7);
  EXPECT_EQ(take({}).connection, 1u);
  intake().nothing_left();
  EXPECT_THAT(events(), ElementsAre("+1", "-1"));
}

// A stranger can connect without limit, so refusals beyond 64 are counted but not reported one by
// one.
TEST_F(Intake, EventsOfAFloodOfRefusalsAreBounded) {
  for (int i = 0; i < 1000; ++i) {
    intake().accepted(i);
    intake().closed(i);
    intake().nothing_left();
  }
  EXPECT_LE(events().size(), 64u);
  EXPECT_EQ(intake().refusals()[static_cast<std::size_t>(RefusalReason::failed_handshake)], 1000u);
}

}  // namespace
}  // namespace tributary
