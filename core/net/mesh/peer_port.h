// The address at which an agent's peers find it, over TCP or MPI. It outlives epochs, so that its
// address can be told before there is one.
#pragma once

#include <memory>
#include <string>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/net/mesh/mesh.h"

namespace tributary {

class PeerPort {
 public:
  virtual ~PeerPort() = default;

  // What others are told.
  virtual const std::string& endpoint() const = 0;

  // The transport of an epoch, for as long as the port lives. There is one at a time, and its calls
  // are made by one thread at a time.
  virtual Result<std::unique_ptr<Transport>> open(const MeshOptions& options) = 0;
};

// Listens at `endpoint`; others are told `advertise` where that is not empty. `clock` outlives it.
Result<std::unique_ptr<PeerPort>> open_tcp_peer_port(const std::string& endpoint,
                                                     const std::string& advertise,
                                                     const Clock& clock);

}  // namespace tributary
