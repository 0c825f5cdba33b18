// How frames and payloads get from one machine to another. A hub (the coordinator's side) has many
// peers, a spoke (an agent's side) has one, and both look like this to whoever uses them.
//
// Nothing here knows what a frame means. Messages may be lost, as a whole, with the connection they
// were sent on; on one connection they come in order and at most once. Bulk that is larger than a
// payload part is cut up by the layers above.
//
// A transport belongs to one thread; only wake() may be called from any.
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
#include "core/net/keys/keys.h"
#include "core/net/shared_slice.h"
#include "schemas/limits.h"

namespace tributary {

// One connection of one peer. A transport never uses a number twice, and none is 0: what is sent to
// a connection that is gone goes nowhere, not to its successor. A peer has two connections while
// the hub has not noticed the end of the first, or when somebody runs it twice.
using ConnectionId = std::uint64_t;

struct Connected {
  ConnectionId connection = 0;
  PublicKey peer;  // proven by the handshake, not claimed; unless encryption is off
};

// A hub notices it from the connection or from a failed send; that may take as long as the kernel
// waits for the other side's.
struct Disconnected {
  ConnectionId connection = 0;
  PublicKey peer;
  Status why;
};

struct Received {
  ConnectionId connection = 0;
  PublicKey peer;
  Bytes frame;
  SharedSlice payload;  // begins at a multiple of 8; empty: there was none
};

// Why something that came was not let in.
enum class RefusalReason : std::uint8_t {
  unknown_key,       // a key that is not on the allow-list knocked
  too_many_knocks,   // an allowed key connects again and again
  failed_handshake,  // no ZMTP, no CURVE, or not our key
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
  // The same as they are in TCP's streams. Handshakes and keep-alives are in neither.
  std::uint64_t wire_bytes_in = 0;
  std::uint64_t wire_bytes_out = 0;
  std::uint64_t connections = 0;  // that there have been
  std::uint64_t sends_refused = 0;
  std::array<std::uint64_t, kRefusalReasons> refused{};

  std::uint64_t refused_for(RefusalReason reason) const {
    return refused[static_cast<std::size_t>(reason)];
  }
};

// Bounds on what waits. What is behind them waits with its sender.
struct LinkLimits {
  std::size_t frame_bytes_max = wire::kFrameBytesMax;
  std::size_t payload_bytes_max = wire::kPayloadBytesMax;
  // For each connection: messages, and bytes of those that are not small.
  std::uint32_t send_queue_messages = 1024;
  std::size_t send_queue_bytes = 64u << 20;
  // For each connection. A hub that falls behind holds up to one more than this of every peer at
  // once: whoever has many peers with large parts lets few of them send at a time.
  std::uint32_t receive_queue_messages = 16;
};

class Transport {
 public:
  virtual ~Transport() = default;

  // Takes the message or says why not, and never waits:
  //   resource_exhausted  the connection's queue is full: try again after the next event
  //   unavailable         there is no such connection, or not any more
  //   invalid_argument    the frame is empty, or a part is above its cap
  // What is queued is sent without copying and let go of on another thread.
  virtual Status send(ConnectionId to, SharedSlice frame, SharedSlice payload = {}) = 0;

  // The next event; nothing when the deadline, a time of the transport's clock, has passed or
  // somebody called wake().
  virtual Result<std::optional<LinkEvent>> receive(std::chrono::nanoseconds deadline) = 0;

  // Of a connection from which nothing comes any longer: a spoke tells of its end and dials anew. A
  // hub has no way to end one, and needs none: whoever is behind it dials.
  virtual void give_up(ConnectionId /*connection*/) {}

  // Bytes that TCP has received on the connection, those of incomplete messages included. 0 where
  // that is not known, and of a connection that has ended. The count may be wrong for a moment
  // while a connection ends: use it to see progress, not to account. Cost: one system call.
  virtual std::uint64_t bytes_arrived(ConnectionId /*connection*/) const { return 0; }

  // Makes the receive() that is waiting, or else the next one that would wait, return.
  virtual void wake() = 0;

  // False: whoever is in between can read and change everything, and peers are who they say.
  virtual bool encrypted() const = 0;

  virtual const LinkLimits& limits() const = 0;
  virtual LinkCounters counters() const = 0;
};

// What ZeroMQ, and CURVE where it encrypts, make of a message; docs/wire.md has it in figures.
std::size_t wire_bytes(std::size_t frame_bytes, std::size_t payload_bytes, bool encrypted);

// What send() says of a message that no queue can ever take, and of a connection that is not there.
Status check_caps(const LinkLimits& limits, std::size_t frame_bytes, std::size_t payload_bytes);
Status no_connection();

}  // namespace tributary
