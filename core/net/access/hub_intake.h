// What a hub makes of what comes off its socket, without the socket: who it is from, whether it is
// let in, and which connections there are. Nothing that comes in is trusted but the user id and the
// connection's file descriptor, which libzmq itself attaches to a message.
//
// libzmq tells of messages and of connections through two queues whose order to one another is
// lost. What ties them together is the file descriptor. A connection is known from its first
// message on, and before its descriptor is looked up the caller hands in all connection events that
// there are (learn_of_connections): a descriptor that is not open by then belonged to a connection
// that is already gone, and whatever comes from it is reported together with its end.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "core/net/access/allow_list.h"
#include "core/net/transport.h"

namespace tributary {

// The parts of a message behind the route, one after the other, as they are.
struct MessageParts {
  ByteSpan frame = {};
  ByteSpan payload = {};  // empty: none
  bool greeting = false;  // a single empty part: all that it says is that somebody is there
};

// Fails with the reason only.
std::variant<MessageParts, RefusalReason> read_parts(std::span<const ByteSpan> parts,
                                                     const LinkLimits& limits);

// In unencrypted links a peer's routing id is this and the key it claims.
inline constexpr char kClaimedKeyMark = 'T';
std::string claimed_route(const PublicKey& key);

struct ArrivedMessage {
  std::string_view user_id;  // a key's text, from our own ZAP handler; empty: none
  int descriptor = -1;       // of its connection; -1: not known
  ByteSpan route;
  std::span<const ByteSpan> parts;
};

class HubIntake {
 public:
  struct Options {
    bool encrypted = true;
    LinkLimits limits = {};
    std::uint32_t connections_per_key_max = 4;
    // Of connections that have ended and whose last messages may still be under way.
    std::uint32_t patience_messages = 4096;
  };
  // No allow-list: every key may come in.
  HubIntake(const Options& options, std::shared_ptr<const AllowList> allowed);

  // What came of a message. `frame` and `payload` are empty unless it is to be handed on.
  struct Taken {
    ConnectionId connection = 0;  // 0: nothing is to be handed on
    PublicKey peer;
    MessageParts parts;
  };
  // May add events, which come before the message itself; more may wait behind it.
  Taken take(const ArrivedMessage& message, const std::function<void()>& learn_of_connections);

  void accepted(int descriptor);
  void closed(int descriptor);
  // There are no messages left: connections that have ended can be reported.
  void nothing_left();
  // Our own gate sent somebody away, and has told of it: the connection that ends next without a
  // word is no failed handshake.
  void turned_away() { ++turned_away_; }
  void refused(RefusalReason reason, std::string source);
  // Counted elsewhere already.
  void tell(Refused refusal);
  // A send found nobody there.
  void lost(ConnectionId connection);

  // Where to send what is for this connection; empty when it is gone or its key was revoked.
  std::string_view route_of(ConnectionId connection);

  // The file descriptor of the connection; -1 where it is not known or has been closed. libzmq may
  // have closed it, and the system used it again, since the last connection event was handed in.
  int descriptor_of(ConnectionId connection) const;

  // Events in the order in which they are to be told; at most a few wait.
  bool has_event() const { return !events_.empty(); }
  LinkEvent next_event();

  std::size_t connections() const { return connections_.size(); }
  const std::array<std::uint64_t, kRefusalReasons>& refusals() const { return refusals_; }
  std::uint64_t connections_ever() const { return last_; }

 private:
  struct Connection {
    PublicKey peer;
    std::string route;
    int descriptor = -1;
  };
  struct Ending {
    ConnectionId connection;
    std::uint64_t until_message;
  };
  // A descriptor that was closed and from which nothing had been read. If its first message still
  // comes, somebody was there only for a moment; otherwise the handshake failed.
  struct Silent {
    int descriptor;
    std::uint64_t until_message;
  };

  bool identify(const ArrivedMessage& message, PublicKey& key) const;
  ConnectionId connection_of(const ArrivedMessage& message, const PublicKey& key,
                             const std::function<void()>& learn_of_connections);
  ConnectionId open(const ArrivedMessage& message, const PublicKey& key);
  void end(ConnectionId connection, Status why);
  void begin_to_end(ConnectionId connection);
  void end_those_before(std::uint64_t message);

  const Options options_;
  const std::shared_ptr<const AllowList> allowed_;
  std::unordered_map<ConnectionId, Connection> connections_;
  std::unordered_map<std::string, ConnectionId> by_route_;
  std::unordered_map<PublicKey, std::deque<ConnectionId>, PublicKeyHash> by_key_;
  std::unordered_map<int, bool> open_descriptors_;  // whether a message came from it
  std::unordered_map<int, ConnectionId> by_descriptor_;
  std::deque<Ending> ending_;
  std::deque<Silent> silent_;
  std::uint64_t turned_away_ = 0;
  std::deque<LinkEvent> events_;
  std::array<std::uint64_t, kRefusalReasons> refusals_{};
  std::uint64_t messages_ = 0;
  ConnectionId last_ = 0;
};

}  // namespace tributary
