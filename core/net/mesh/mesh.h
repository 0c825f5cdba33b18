// The members of one epoch, each of whom can send to each other without the coordinator in between:
// what peers exchange through. Messages are those of Transport, a frame and a payload.
//
// TCP, and on top of it TLS 1.3 with a key for each pair of members: what the Diffie-Hellman
// function makes of their CURVE keys, which the coordinator has handed to both. Who cannot prove
// that it owns the key named for a member cannot speak for it. No certificate is involved, and an
// ephemeral exchange on top keeps what was said secret when a key is lost later.
//
// Not ZeroMQ, because the way between neighbours on a fast network is short enough for a thread
// that hands messages on, and one wake-up for each packet, to cost more than all the rest
// (docs/collectives.md has the figures).
//
// Connections are made by who sends first, for that way only, and again until the other one
// has welcomed them: it may still be in the epoch before. Messages on one come in order. A
// connection that ends takes its member out for good: an exchange does not go on without it.
//
// Belongs to one thread; only wake() may be called from any.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/net/arrival_timer.h"
#include "core/net/keys/keys.h"
#include "core/net/shared_slice.h"
#include "core/net/transport.h"
#include "schemas/limits.h"

namespace tributary {

// Where peers connect to. It outlives epochs, so that its address can be told before there is one.
class MeshPort {
 public:
  // "tcp://192.0.2.7:4650"; "tcp://127.0.0.1:0" picks a port. Addresses are numbers, not names.
  static Result<std::unique_ptr<MeshPort>> open(const std::string& endpoint);
  ~MeshPort();
  MeshPort(const MeshPort&) = delete;
  MeshPort& operator=(const MeshPort&) = delete;

  // With the port that was picked.
  const std::string& endpoint() const { return endpoint_; }
  int file() const { return file_; }

 private:
  MeshPort(int file, std::string endpoint) : file_(file), endpoint_(std::move(endpoint)) {}
  int file_;
  std::string endpoint_;
};

// What an endpoint has to be for it: to listen at may be every address of a machine (0.0.0.0, [::])
// and a port that is still to be picked; others can be told neither.
enum class MeshAddressUse : std::uint8_t { listen, listen_and_tell, tell };
Status check_mesh_address(const std::string& endpoint, MeshAddressUse use);

struct MeshMember {
  std::string endpoint;
  PublicKey key;
};

struct MeshOptions {
  std::uint32_t rank = 0;
  std::vector<MeshMember> members;
  std::uint64_t session = 0;  // of the epoch: who belongs to another one is a stranger
  // Null: nothing is encrypted and members are who they say they are. For benchmarks.
  std::shared_ptr<const KeyPair> keys = nullptr;
  std::size_t frame_bytes_max = wire::kSmallFrameBytesMax;
  std::size_t payload_bytes_max = wire::kPayloadBytesMax;
  // For each member; payloads are not copied, so that this bounds what is held for it.
  std::size_t send_queue_bytes = 1u << 30;
  // A member that is not there yet, or not in this epoch, is dialled again for so long.
  std::chrono::milliseconds connect_max{10'000};
  // The same from the moment on at which nobody listens there.
  std::chrono::milliseconds refused_max{10'000};
  // From the first byte until a connection has said whose it is.
  std::chrono::milliseconds handshake_max{5'000};
};

struct MeshMessage {
  std::uint32_t from = 0;  // proven by the handshake, unless encryption is off
  Bytes frame;
  SharedSlice payload;  // begins at a multiple of 8; may be empty
  Arrival arrival = {};
};

// The member cannot be reached, or its connection has ended.
struct MeshLost {
  std::uint32_t member = 0;
  Status why;
  std::size_t unsent_bytes = 0;  // that were meant for it
};

// Somebody came who does not belong here, and was sent away.
struct MeshRefused {
  std::string source;
  Status why;
};

using MeshEvent = std::variant<MeshMessage, MeshLost, MeshRefused>;

struct MeshCounters {
  std::uint64_t messages_in = 0;
  std::uint64_t messages_out = 0;
  std::uint64_t bytes_in = 0;  // of TCP's streams
  std::uint64_t bytes_out = 0;
  std::uint64_t refused = 0;
};

class Mesh {
 public:
  virtual ~Mesh() = default;

  // Queues the message and sends what can be sent; never waits.
  //   resource_exhausted  the queue is full: try again after the next event
  //   unavailable         the member is lost
  //   invalid_argument    no such member, or a part is above its cap
  virtual Status send(std::uint32_t to, Bytes frame, SharedSlice payload) = 0;

  // The next event; nothing when the deadline, a time of the clock, has passed, when somebody
  // called wake(), or when the last of what waited to be sent is gone. Sends on meanwhile.
  virtual Result<std::optional<MeshEvent>> receive(std::chrono::nanoseconds deadline) = 0;
  virtual void wake() = 0;

  // Bytes that wait to be handed to the operating system.
  virtual std::size_t waiting_bytes() const = 0;
  virtual MeshCounters counters() const = 0;

  // The quickest round trip with a member so far, in seconds; nothing where nobody knows.
  virtual std::optional<double> round_trip_min_s(std::uint32_t) const { return std::nullopt; }
};

// What send() says of a message that no queue can ever take, whatever it goes by.
struct MeshSend {
  std::uint32_t to = 0;
  std::uint32_t own_rank = 0;
  std::size_t members = 0;
  std::size_t frame_bytes = 0;
  std::size_t payload_bytes = 0;
};
Status check_mesh_send(const MeshSend& send, const LinkLimits& limits);

// `port` and `clock` outlive it.
Result<std::unique_ptr<Mesh>> open_mesh(const MeshPort& port, const MeshOptions& options,
                                        const Clock& clock);

}  // namespace tributary
