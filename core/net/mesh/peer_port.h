// The address at which an agent's peers reach it, over TCP or MPI. It outlives epochs, so that its
// address can be sent to the coordinator before an epoch exists.
//
// A port owns the listening socket or the use of MPI. Messages pass only through the transport that
// open() returns.
#pragma once

#include <memory>
#include <string>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/net/mesh/tcp/mesh.h"

namespace tributary {

// Opens the transports of epochs at one address.
class PeerPort {
 public:
  virtual ~PeerPort() = default;

  // The address that is sent to others.
  virtual const std::string& endpoint() const = 0;

  // Opens the transport of an epoch. The port must outlive it, and at most one is open at a time.
  // One thread at a time calls the port and its transport.
  virtual Result<std::unique_ptr<Transport>> open(const MeshOptions& options) = 0;
};

// Listens at `endpoint`. Peers receive `advertise` as the address, or `endpoint` if `advertise` is
// empty. `clock` must outlive the port.
Result<std::unique_ptr<PeerPort>> open_tcp_peer_port(const std::string& endpoint,
                                                     const std::string& advertise,
                                                     const Clock& clock);

}  // namespace tributary
