// A mesh over MPI, for ranks that one mpirun has started on a cluster whose network MPI supports.
// Each rank is a member. The layers above, exchanges and codecs, are the same as over TCP.
//
// Security: nothing is encrypted and members are not authenticated, because MPI offers neither.
// Every user who can start ranks under the same mpirun is trusted (docs/mpi.md).
//
// Format: a message is one MPI message with the frame, and a second one with the payload if it has
// one, so that the payload is received into its final buffer. An empty frame means that its sender
// leaves. The mesh has a communicator of its own, so that no other MPI message is mistaken for one
// of the mesh.
//
// Two guarantees of the TCP mesh do not hold:
//  - The loss of a member may stay unnoticed. Under Open MPI, mpirun ends all ranks when one dies.
//    A member that hangs is silent, and only the deadline of the waiting member ends the wait.
//    Disconnected is reported when a member has left, when it has sent a message that violates the
//    format, and when MPI returns an error that names it.
//  - Memory for received frames is not bounded: MPI decides how many it buffers before they are
//    asked for. Payloads wait at their sender, and at most receive_bytes_max of them are received
//    at a time.
//
// Cost: MPI moves bytes only inside its calls and has no file to wait on, so receive() polls. It
// first yields to other threads, then sleeps between two polls, longer each time. Long sleeps cost
// latency and short ones cost processor time; mpi_mesh.cc has the values and their reasons.
#pragma once

#include <chrono>
#include <memory>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/net/mpi/mpi_session.h"
#include "core/net/peer_transport.h"

namespace tributary {

struct MpiMeshOptions {
  LinkLimits limits = kPeerLimits;
  // Bound on payloads that are being received at a time, in bytes, over all members. One payload
  // may exceed it.
  std::size_t receive_bytes_max = 64u << 20;
  // All ranks open a mesh together and leave it together. These limits bound how long they wait for
  // one another.
  std::chrono::milliseconds open_max{30'000};
  std::chrono::milliseconds leave_max{60'000};
};

// Opens a mesh of all ranks. Every rank calls it equally often and in the same order. Returns
// invalid_argument for limits that MPI cannot represent and deadline_exceeded if a rank does not
// open in time. The mesh's destructor informs the other ranks and receives what they still send
// until they leave too. After leave_max it gives up and leaves unfinished transfers to the session.
// `session` and `clock` must outlive the mesh.
Result<std::unique_ptr<PeerTransport>> open_mpi_mesh(MpiSession& session,
                                                     const MpiMeshOptions& options,
                                                     const Clock& clock);

}  // namespace tributary
