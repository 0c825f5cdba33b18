// The interface of all connections between machines. It carries frames and payloads.
// Implementations: the coordinator's hub and an agent's spoke over ZeroMQ (zmq), peers over TCP and
// TLS (mesh) or MPI (mpi), and a decorator that makes a link slower and less reliable (shaped).
//
// Delivery: a transport does not know the meaning of a frame. Messages on a connection arrive in
// order and at most once. They are lost only as a whole and only with their connection. The layers
// above split data that is larger than a payload part.
//
// Connections: those of a hub and a spoke begin and end, and events report both. A transport among
// peers has fixed members (members()): their connections exist from the beginning, are numbered by
// rank, and do not return after they have ended.
//
// Thread rule: a transport belongs to one thread; only wake() may be called from any thread.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/net/arrival_timer.h"
#include "core/net/keys/keys.h"
#include "core/net/shared_slice.h"
#include "schemas/limits.h"

namespace tributary {

// Identifies a connection. For a hub and a spoke, it is one connection of one peer; it is never 0
// and never reused. A message to a connection that has ended is not sent to the peer's next
// connection. A peer has two connections while the hub has not noticed the end of the first, or if
// it runs twice. For a transport with fixed members, it is the member's rank.
using ConnectionId = std::uint64_t;

// A connection has begun. Fixed members are connected from the beginning, without this event.
struct Connected {
  ConnectionId connection = 0;
  PublicKey peer;  // proven by the handshake if the transport is encrypted, otherwise only claimed
};

// A connection has ended. A hub notices it from the connection or from a failed send, which may
// take as long as the kernel waits for the other side (LinkTimes::unacknowledged_max). A fixed
// member is lost for good, also if it was never reached.
struct Disconnected {
  ConnectionId connection = 0;
  PublicKey peer;
  Status why;
  // Bytes that were accepted for a fixed member and not sent; 0 for other connections.
  std::size_t unsent_bytes = 0;

  // The rank of a fixed member.
  std::uint32_t rank() const { return static_cast<std::uint32_t>(connection); }
};

// One message.
struct Received {
  ConnectionId connection = 0;
  PublicKey peer;
  Bytes frame;
  SharedSlice payload;   // begins at a multiple of 8 bytes; empty if the message has none
  Arrival arrival = {};  // timing of the payload, if the transport reads the socket itself

  // The rank of a fixed member.
  std::uint32_t rank() const { return static_cast<std::uint32_t>(connection); }
};

// The reason why a connection or a message was refused.
enum class RefusalReason : std::uint8_t {
  unknown_key,       // a key that is not on the allow-list
  too_many_knocks,   // an allowed key that connects too often
  failed_handshake,  // not ZMTP, no CURVE or another server key; a peer of another session
  not_identified,    // a message from a connection without an authenticated key
  revoked,           // a message under a key that is not allowed any more
  claimed_route,     // a peer that chose its own routing id, which could be another peer's
  bad_parts,         // not one or two parts, or an empty part
  frame_too_large,
  payload_too_large,
};
inline constexpr std::size_t kRefusalReasons = 9;
std::string_view name(RefusalReason reason);

// A refused connection or message. It is for the log and the counters and requires no reaction.
struct Refused {
  RefusalReason reason;
  std::string source;  // text of a key or an address; empty if neither is known
  Status why = {};     // details about a peer; ok if the reason says everything
};

// A spoke could not connect to its hub and will try again by itself. `why` is permission_denied if
// the hub refuses its key, mismatch if the hub has another key, and unavailable otherwise.
struct Unreachable {
  Status why;
  std::chrono::nanoseconds retry_in{0};
};

using LinkEvent = std::variant<Connected, Disconnected, Received, Refused, Unreachable>;

// Totals since the transport was opened.
struct LinkCounters {
  std::uint64_t messages_in = 0;
  std::uint64_t messages_out = 0;
  std::uint64_t bytes_in = 0;  // frames and payloads
  std::uint64_t bytes_out = 0;
  // Bytes in the TCP streams. For ZeroMQ they are computed from the messages, without handshakes
  // and keep-alives. For peers they are all bytes of the streams. For MPI they are the bytes of the
  // messages.
  std::uint64_t wire_bytes_in = 0;
  std::uint64_t wire_bytes_out = 0;
  std::uint64_t connections = 0;  // number of connections so far; 0 for MPI
  std::uint64_t sends_refused = 0;
  std::array<std::uint64_t, kRefusalReasons> refused{};

  std::uint64_t refused_for(RefusalReason reason) const {
    return refused[static_cast<std::size_t>(reason)];
  }
  std::uint64_t refused_in_all() const;
  void refuse(RefusalReason reason) { ++refused[static_cast<std::size_t>(reason)]; }
};

// The difference of two readings of the same transport.
LinkCounters operator-(const LinkCounters& now, const LinkCounters& before);

// Bounds on messages that wait. A message beyond the bound waits at its sender.
struct LinkLimits {
  std::size_t frame_bytes_max = wire::kFrameBytesMax;
  std::size_t payload_bytes_max = wire::kPayloadBytesMax;
  // Per connection. Peers bound only the bytes. ZeroMQ does not count the bytes of messages of up
  // to 1 KiB.
  std::uint32_t send_queue_messages = 1024;
  std::size_t send_queue_bytes = 64u << 20;
  // Per ZeroMQ connection; peers read one message at a time. A hub that falls behind holds up to
  // this number plus one of every peer, so a coordinator with many peers and large parts lets only
  // a few of them send at a time.
  std::uint32_t receive_queue_messages = 16;
};

// The limits among peers. Waiting payloads are not copied, so the bound counts memory that the
// sender holds anyway.
inline constexpr LinkLimits kPeerLimits = {.frame_bytes_max = wire::kSmallFrameBytesMax,
                                           .send_queue_bytes = 1u << 30};

// The members of a transport among peers. A count of 0 means that connections begin and end.
struct FixedMembers {
  std::uint32_t count = 0;
  std::uint32_t own_rank = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;

  // Accepts the message for sending or returns an error; it never waits:
  //   resource_exhausted  the connection's queue is full: try again after the next event
  //   unavailable         the connection does not exist or has ended
  //   invalid_argument    no such member, an empty frame, or a part above its limit
  // The payload is sent without a copy. ZeroMQ releases it on another thread.
  virtual Status send(ConnectionId to, SharedSlice frame, SharedSlice payload = {}) = 0;

  // Returns the next event. Returns nothing when the deadline (in the time of the transport's
  // clock) has passed, when wake() was called or, with fixed members, when the last waiting message
  // has been sent. A transport among peers sends only during this call and send().
  virtual Result<std::optional<LinkEvent>> receive(std::chrono::nanoseconds deadline) = 0;

  // Makes the receive() that waits return, or else the next one that would wait. Any thread may
  // call it.
  virtual void wake() = 0;

  // False: any party on the path can read and change everything, and peers are not authenticated.
  virtual bool encrypted() const = 0;

  virtual const LinkLimits& limits() const = 0;
  virtual LinkCounters counters() const = 0;

  // Bytes of accepted messages that were not passed to the operating system yet, over all queues.
  virtual std::size_t waiting_bytes() const = 0;

  virtual FixedMembers members() const { return {}; }

  // Call it for a connection whose peer does not respond any more. A spoke reports the end of the
  // connection and connects again. A hub cannot end a connection and does not need to, because the
  // peer connects again.
  virtual void give_up(ConnectionId /*connection*/) {}

  // Bytes that TCP has received on the connection, including those of incomplete messages. 0 if the
  // number is unknown or the connection has ended. It may be wrong for a moment while a connection
  // ends, so it shows progress and is not for accounting. Cost: one system call.
  virtual std::uint64_t bytes_arrived(ConnectionId /*connection*/) const { return 0; }

  // The minimum round-trip time of the connection so far, in seconds; empty if it is unknown, as
  // over ZeroMQ and MPI. Cost: one system call.
  virtual std::optional<double> round_trip_min_s(ConnectionId /*connection*/) const {
    return std::nullopt;
  }
};

// Bytes of a message on the wire with ZeroMQ's and, if encrypted, CURVE's overhead (docs/wire.md).
std::size_t wire_bytes(std::size_t frame_bytes, std::size_t payload_bytes, bool encrypted);

// The errors of send() that depend only on the message: the size of its parts and, with fixed
// members, the number of the receiver.
Status check_caps(const LinkLimits& limits, std::size_t frame_bytes, std::size_t payload_bytes);
Status check_send(const Transport& transport, ConnectionId to, std::size_t frame_bytes,
                  std::size_t payload_bytes);

// The error of send() if `bytes` more bytes exceed the bound. `queue` is its name in the error.
struct QueueLevel {
  std::string_view queue;
  std::size_t waiting_bytes = 0;
  std::size_t bytes_max = 0;
};
Status check_queue_bound(const QueueLevel& level, std::size_t bytes);

// The errors of send() for a connection that does not exist and for a fixed member that is lost.
Status no_connection();
Status member_lost(ConnectionId member);

}  // namespace tributary
