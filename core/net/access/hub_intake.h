// Decides for each message that a hub receives which connection it belongs to and whether it is
// passed on. It has no socket: the hub passes in messages and connection events, and takes out link
// events.
//
// Nothing in a message is trusted except its user id and the file descriptor of its connection,
// which libzmq attaches itself.
//
// libzmq reports messages and connection events through two queues, and their relative order is
// lost. The file descriptor links them. A connection is known from its first message on. Before
// HubIntake looks up the message's descriptor, it asks the caller to pass in all waiting connection
// events (learn_of_connections). If the descriptor is not open then, it belonged to a connection
// that has already ended; its messages are still passed on, and its end is reported after them.
//
// Not thread-safe: it belongs to the hub's thread.
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

// The parts of a message behind its route. The spans refer to the caller's buffers.
struct MessageParts {
  ByteSpan frame = {};
  ByteSpan payload = {};  // empty if the message has no payload
  bool greeting = false;  // one empty part, which only announces the connection
};

// Checks the number of parts and their sizes. Returns the reason if the message is refused.
std::variant<MessageParts, RefusalReason> read_parts(std::span<const ByteSpan> parts,
                                                     const LinkLimits& limits);

// The routing id that a peer sets on an unencrypted link: this mark, then the key that it claims.
inline constexpr char kClaimedKeyMark = 'T';
std::string claimed_route(const PublicKey& key);

// One message as libzmq delivers it. It owns nothing.
struct ArrivedMessage {
  std::string_view user_id;  // text of a key, set by our own ZAP handler; empty if none is attached
  int descriptor = -1;       // file descriptor of its connection; -1 if unknown
  ByteSpan route;
  std::span<const ByteSpan> parts;
};

class HubIntake {
 public:
  struct Options {
    bool encrypted = true;
    LinkLimits limits = {};
    std::uint32_t connections_per_key_max = 4;
    // A connection that has ended may still have messages in libzmq's queue. Its end is reported
    // after this many further messages at the latest, or as soon as the queue is empty.
    std::uint32_t patience_messages = 4096;
  };
  // A null `allowed` accepts every key.
  HubIntake(const Options& options, std::shared_ptr<const AllowList> allowed);

  // The result of take(). `parts` are empty unless the message is to be passed on.
  struct Taken {
    ConnectionId connection = 0;  // 0 if no message is to be passed on
    PublicKey peer;
    MessageParts parts;
  };
  // Processes one message. May queue events: those that are queued when it returns belong before
  // the message. Calls `learn_of_connections` at most once, and only if it must look up the
  // descriptor.
  Taken take(const ArrivedMessage& message, const std::function<void()>& learn_of_connections);

  // Connection events of libzmq, in the order in which libzmq reports them.
  void accepted(int descriptor);
  void closed(int descriptor);
  // The message queue is empty, so the ends of connections can be reported.
  void nothing_left();
  // The gate has refused a connection and has reported it. The next connection that ends without a
  // message is therefore not counted as a failed handshake.
  void turned_away() { ++turned_away_; }
  // Counts a refusal and queues an event for it.
  void refused(RefusalReason reason, std::string source);
  // Queues an event for a refusal that is already counted elsewhere. Drops it if 64 events wait, so
  // that a flood of refusals cannot use up the memory.
  void report(Refused refusal);
  // A send found that the connection does not exist any more.
  void lost(ConnectionId connection);

  // The route to send to. Empty if the connection has ended or if its key was revoked, in which
  // case the connection ends now.
  std::string_view route_of(ConnectionId connection);

  // The file descriptor of the connection; -1 if it is unknown or closed. It may be stale: since
  // the last connection event was passed in, libzmq may have closed it and the system may have
  // reused it.
  int descriptor_of(ConnectionId connection) const;

  // The events in the order in which the hub must report them. Only a few wait at a time.
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
  // A connection that has ended and whose last messages may still be queued.
  struct Ending {
    ConnectionId connection;
    std::uint64_t until_message;
  };
  // A closed descriptor from which no message was read. If a message still arrives from it, its
  // connection was a short one. Otherwise the handshake failed.
  struct Silent {
    int descriptor;
    std::uint64_t until_message;
  };

  bool identify(const ArrivedMessage& message, PublicKey& key) const;
  ConnectionId connection_of(const ArrivedMessage& message, const PublicKey& key, bool greeting,
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
  std::unordered_map<int, bool> open_descriptors_;  // true once a message arrived from it
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
