// The transport among the members of one epoch over TCP. Every member can send directly to every
// other member, without the coordinator.
//
// Security: TLS 1.3 runs over each connection with a pre-shared key for each pair of members. The
// key is derived from the Diffie-Hellman result of their CURVE keys, which the coordinator has sent
// to both. A process that does not own the key of a member cannot impersonate it. No certificates
// are used. An ephemeral exchange is added, so that recorded traffic stays secret if a key is lost
// later.
//
// ZeroMQ is not used here. Between neighbours on a fast network, its hand-over to another thread
// and its wake-up for each packet would cost more than everything else (docs/collectives.md has the
// figures).
//
// Connections: a member connects when it first sends to another member, and the connection carries
// messages in that direction only. It connects again until the other member has sent its welcome,
// because that member may still be in the previous epoch. Messages on a connection arrive in order.
// When a connection ends, the member at its other end is lost for the rest of the epoch: an
// exchange does not continue without it.
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

// The listening socket for peers. It outlives epochs, so that its address can be sent to the
// coordinator before an epoch exists.
class MeshPort {
 public:
  // Binds "tcp://192.0.2.7:4650"; "tcp://127.0.0.1:0" picks a free port. The host must be a numeric
  // address. Returns invalid_argument for a malformed endpoint and io_error if it cannot be bound.
  static Result<std::unique_ptr<MeshPort>> open(const std::string& endpoint);
  ~MeshPort();
  MeshPort(const MeshPort&) = delete;
  MeshPort& operator=(const MeshPort&) = delete;

  // The endpoint with the port that was picked.
  const std::string& endpoint() const { return endpoint_; }
  int file() const { return file_; }

 private:
  MeshPort(int file, std::string endpoint) : file_(file), endpoint_(std::move(endpoint)) {}
  int file_;
  std::string endpoint_;
};

// The use of an endpoint. An address to listen on may be the wildcard (0.0.0.0, [::]) and its port
// may be 0; an address that is sent to others may be neither.
enum class MeshAddressUse : std::uint8_t { listen, listen_and_advertise, advertise };
Status check_mesh_address(const std::string& endpoint, MeshAddressUse use);

// One member of an epoch, as the coordinator reports it.
struct MeshMember {
  std::string endpoint;
  PublicKey key;
};

// The members of an epoch and the time limits of their connections.
struct MeshOptions {
  std::uint32_t rank = 0;
  std::vector<MeshMember> members;
  std::uint64_t session = 0;  // the epoch's number; a connection of another session is refused
  // Own keys. Null: nothing is encrypted and members are not authenticated, which is only for
  // benchmarks.
  std::shared_ptr<const KeyPair> keys = nullptr;
  LinkLimits limits = kPeerLimits;
  // How long to keep connecting to a member that does not answer or is in another epoch.
  std::chrono::milliseconds connect_max{10'000};
  // The same limit, counted from the first attempt that was actively refused (nothing listens
  // there).
  std::chrono::milliseconds refused_max{10'000};
  // How long an accepted connection may take until it has identified its member.
  std::chrono::milliseconds handshake_max{5'000};
};

// Opens the transport of one epoch. Returns invalid_argument if the rank is not below the number of
// members. `port` and `clock` must outlive the transport. At most one transport may use a port at a
// time.
Result<std::unique_ptr<Transport>> open_mesh(const MeshPort& port, const MeshOptions& options,
                                             const Clock& clock);

}  // namespace tributary
