// A way to peers over MPI, for agents that one mpirun has started: each is one of its ranks, and
// all epochs go over one mesh of all ranks (core/net/mesh/epoch_mesh.h).
//
// Nothing is encrypted and nobody proves who they are, as mpi_mesh.h says.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/net/mesh/peer_port.h"
#include "core/net/mpi/mpi_session.h"

namespace tributary {

struct MpiPortOptions {
  // Drawn at random, not 0; all go by that of rank 0, so that no other mpirun has it.
  std::uint64_t run = 0;
  std::size_t send_queue_bytes = std::size_t{8} << 30;  // for each rank, in all epochs
  // All ranks open it together, and leave it together: so long they wait for one another.
  std::chrono::milliseconds open_max{30'000};
  std::chrono::milliseconds leave_max{60'000};
};

// Every rank calls it as often as the others do. `session` and `clock` outlive it. Its address
// names the run and the rank; an epoch in which somebody's is of another run, or of none, is
// refused.
Result<std::unique_ptr<PeerPort>> open_mpi_port(MpiSession& session, const MpiPortOptions& options,
                                                const Clock& clock);

}  // namespace tributary
