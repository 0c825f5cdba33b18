// A transport among the members of one epoch, each of which can send to each other without the
// coordinator in between: what peers exchange through.
//
// TCP, and on top of it TLS 1.3 with a key for each pair of members: what the Diffie-Hellman
// function makes of their CURVE keys, which the coordinator has handed to both. A process that
// cannot prove that it owns the key named for a member cannot speak for it. No certificate is
// involved, and an ephemeral exchange on top keeps what was said secret when a key is lost later.
//
// Not ZeroMQ, because the way between neighbours on a fast network is short enough for a thread
// that hands messages on, and one wake-up for each packet, to cost more than all the rest
// (docs/collectives.md has the figures).
//
// The member that sends first makes a connection, for that direction only, and dials again until
// the other one has welcomed it: it may still be in the epoch before. Messages on one come in
// order. A connection that ends takes its member out for good: an exchange does not go on without
// it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/net/keys/keys.h"
#include "core/net/transport.h"

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
  LinkLimits limits = kPeerLimits;
  // A member that is not there yet, or not in this epoch, is dialled again for so long.
  std::chrono::milliseconds connect_max{10'000};
  // The same from the moment on at which nobody listens there.
  std::chrono::milliseconds refused_max{10'000};
  // From the first byte until a connection has said whose it is.
  std::chrono::milliseconds handshake_max{5'000};
};

// `port` and `clock` outlive it.
Result<std::unique_ptr<Transport>> open_mesh(const MeshPort& port, const MeshOptions& options,
                                             const Clock& clock);

}  // namespace tributary
