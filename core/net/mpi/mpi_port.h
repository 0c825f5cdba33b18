// The peer port of an agent that mpirun has started. Each agent is one rank, and all epochs use one
// mesh of all ranks (core/net/mesh/epoch_mesh.h).
//
// Nothing is encrypted and members are not authenticated, as in mpi_mesh.h.
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
  // Random number, not 0. All ranks use the one of rank 0, so that two mpiruns never have the same
  // number.
  std::uint64_t run = 0;
  std::size_t send_queue_bytes = std::size_t{8} << 30;  // per rank, over all epochs
  // All ranks open the port together and leave it together. These limits bound how long they wait
  // for one another.
  std::chrono::milliseconds open_max{30'000};
  std::chrono::milliseconds leave_max{60'000};
};

// Opens the port; every rank calls it equally often. Returns invalid_argument if `run` is 0,
// unsupported for more than kMpiRanksMax ranks and deadline_exceeded if a rank does not take part.
// Its address names the run and the rank. open() refuses an epoch with a member of another run
// (mismatch), a member without an MPI address (invalid_argument) or a key pair (unsupported).
// `session` and `clock` must outlive the port.
Result<std::unique_ptr<PeerPort>> open_mpi_port(MpiSession& session, const MpiPortOptions& options,
                                                const Clock& clock);

}  // namespace tributary
