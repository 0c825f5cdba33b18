// Carries frames and payloads between machines. Every kind of connection has this one interface:
// the coordinator's hub and an agent's spoke over ZeroMQ (zmq), peers over TCP and TLS (mesh) or
// MPI (mpi), and the decorator that makes a line slower and worse (shaped).
//
// Contract: no transport knows the meaning of a frame. Messages on one connection come in order and
// at most once, and are lost only as a whole, with their connection. The layers above cut up what
// is larger than a payload part.
//
// Connections are made in one of two ways. A hub's and a spoke's come and go, and events tell of
// them. A transport among peers has fixed members (members()): their connections exist from the
// beginning, are numbered by rank, and do not come back once they have ended.
//
// Threads: a transport belongs to one; only wake() may be called from any.
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

// Of a connection that comes and goes: one connection of one peer, never 0, and never used twice.
// What is sent to one that is gone goes nowhere, not to its successor. A peer has two connections
// while the hub has not noticed the end of the first, or when it is run twice.
// Of a fixed member: its rank, from 0 on.
using ConnectionId = std::uint64_t;

// Fixed members are connected from the beginning, without this event.
struct Connected {
  ConnectionId connection = 0;
  PublicKey peer;  // proven by the handshake, not claimed; unless encryption is off
};

// A hub notices it from the connection or from a failed send; that may take as long as the kernel
// waits for the other side's. A fixed member is gone for good, also where it was never reached.
struct Disconnected {
  ConnectionId connection = 0;
  PublicKey peer;
  Status why;
  std::size_t unsent_bytes = 0;  // accepted for a fixed member and never sent; others: not counted

  std::uint32_t rank() const {
    return static_cast<std::uint32_t>(connection);
  }  // of a fixed member
};

struct Received {
  ConnectionId connection = 0;
  PublicKey peer;
  Bytes frame;
  SharedSlice payload;   // begins at a multiple of 8; empty: there was none
  Arrival arrival = {};  // of the payload, where the transport reads the socket itself

  std::uint32_t rank() const {
    return static_cast<std::uint32_t>(connection);
  }  // of a fixed member
};

// Why something that came was not let in.
enum class RefusalReason : std::uint8_t {
  unknown_key,       // a key that is not on the allow-list knocked
  too_many_knocks,   // an allowed key connects again and again
  failed_handshake,  // no ZMTP, no CURVE, or not our key; a peer that is not of this session
  not_identified,    // a message from a connection without an authenticated key
  revoked,           // a message under a key that is not allowed any more
  claimed_route,     // a peer that picked its own routing id, which could be another's
  bad_parts,         // not one or two parts, or an empty one
  frame_too_large,
  payload_too_large,
};
inline constexpr std::size_t kRefusalReasons = 9;
std::string_view name(RefusalReason reason);

// For the log and the counters; nothing is expected in return.
struct Refused {
  RefusalReason reason;
  std::string source;  // a key's text or an address, or nothing where neither is known
  Status why = {};     // what was wrong with a peer; ok where the reason says it all
};

// A spoke could not reach its hub, and will try again by itself. Permission_denied: its key is not
// let in; mismatch: the hub's is another.
struct Unreachable {
  Status why;
  std::chrono::nanoseconds retry_in{0};
};

using LinkEvent = std::variant<Connected, Disconnected, Received, Refused, Unreachable>;

struct LinkCounters {
  std::uint64_t messages_in = 0;
  std::uint64_t messages_out = 0;
  std::uint64_t bytes_in = 0;  // frames and payloads
  std::uint64_t bytes_out = 0;
  // The same as they are in TCP's streams. Of ZeroMQ without handshakes and keep-alives; of peers
  // all that is in the streams; over MPI what MPI has moved.
  std::uint64_t wire_bytes_in = 0;
  std::uint64_t wire_bytes_out = 0;
  std::uint64_t connections = 0;  // that there have been; MPI has none
  std::uint64_t sends_refused = 0;
  std::array<std::uint64_t, kRefusalReasons> refused{};

  std::uint64_t refused_for(RefusalReason reason) const {
    return refused[static_cast<std::size_t>(reason)];
  }
  std::uint64_t refused_in_all() const;
  void refuse(RefusalReason reason) { ++refused[static_cast<std::size_t>(reason)]; }
};

// What was counted between two readings of the same transport.
LinkCounters operator-(const LinkCounters& now, const LinkCounters& before);

// Bounds on what waits. What is behind them waits with its sender.
struct LinkLimits {
  std::size_t frame_bytes_max = wire::kFrameBytesMax;
  std::size_t payload_bytes_max = wire::kPayloadBytesMax;
  // For each connection: messages, which peers do not bound, and bytes. ZeroMQ does not count the
  // bytes of small messages.
  std::uint32_t send_queue_messages = 1024;
  std::size_t send_queue_bytes = 64u << 20;
  // For each connection of ZeroMQ; peers read one message at a time. A hub that falls behind holds
  // up to one more than this of every peer at once: whoever has many peers with large parts lets
  // few of them send at a time.
  std::uint32_t receive_queue_messages = 16;
};

// Payloads that wait for a peer are not copied, so that the bound is on what is held for it.
inline constexpr LinkLimits kPeerLimits = {.frame_bytes_max = wire::kSmallFrameBytesMax,
                                           .send_queue_bytes = 1u << 30};

// Whose connections a transport among peers has; a count of 0: connections come and go.
struct FixedMembers {
  std::uint32_t count = 0;
  std::uint32_t own_rank = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;

  // Takes the message or says why not, and never waits:
  //   resource_exhausted  the connection's queue is full: try again after the next event
  //   unavailable         there is no such connection, or not any more
  //   invalid_argument    no such member, the frame is empty, or a part is above its cap
  // What is queued is sent without copying the payload. ZeroMQ lets go of it on another thread.
  virtual Status send(ConnectionId to, SharedSlice frame, SharedSlice payload = {}) = 0;

  // The next event; nothing when the deadline, a time of the transport's clock, has passed, wake()
  // was called, or, with fixed members, the last of what waited to be sent is gone. A transport
  // among peers sends only while this or send() is called.
  virtual Result<std::optional<LinkEvent>> receive(std::chrono::nanoseconds deadline) = 0;

  // Makes the receive() that is waiting, or else the next one that would wait, return.
  virtual void wake() = 0;

  // False: whoever is in between can read and change everything, and peers are who they say.
  virtual bool encrypted() const = 0;

  virtual const LinkLimits& limits() const = 0;
  virtual LinkCounters counters() const = 0;

  // Bytes of accepted messages that wait to be handed to the operating system, in all queues.
  virtual std::size_t waiting_bytes() const = 0;

  virtual FixedMembers members() const { return {}; }

  // Of a connection from which nothing comes any longer: a spoke tells of its end and dials anew. A
  // hub has no way to end one, and needs none: whoever is behind it dials.
  virtual void give_up(ConnectionId /*connection*/) {}

  // Bytes that TCP has received on the connection, those of incomplete messages included. 0 where
  // that is not known, and of a connection that has ended. The count may be wrong for a moment
  // while a connection ends: use it to see progress, not to account. Cost: one system call.
  virtual std::uint64_t bytes_arrived(ConnectionId /*connection*/) const { return 0; }

  // The quickest round trip on the connection so far, in seconds; nothing where it is not known,
  // as over ZeroMQ and MPI. Cost: one system call.
  virtual std::optional<double> round_trip_min_s(ConnectionId /*connection*/) const {
    return std::nullopt;
  }
};

// What ZeroMQ, and CURVE where it encrypts, make of a message; docs/wire.md has it in figures.
std::size_t wire_bytes(std::size_t frame_bytes, std::size_t payload_bytes, bool encrypted);

// What send() says of a message that no queue can ever take: by its size, and by its number where
// members are fixed.
Status check_caps(const LinkLimits& limits, std::size_t frame_bytes, std::size_t payload_bytes);
Status check_send(const Transport& transport, ConnectionId to, std::size_t frame_bytes,
                  std::size_t payload_bytes);

// What send() says where there is no room for so many bytes more. `queue` is named in the error.
struct SendRoom {
  std::string_view queue;
  std::size_t waiting_bytes = 0;
  std::size_t bytes_max = 0;
};
Status check_room(const SendRoom& room, std::size_t bytes);

// What send() says of a connection that is not there, and of a fixed member that is gone.
Status no_connection();
Status member_lost(ConnectionId member);

}  // namespace tributary
