// A mesh over MPI: for ranks that mpirun has started, on a cluster whose network MPI knows how to
// use. Each rank is a member. What is above it, exchanges and their codecs, is the same as over
// TCP.
//
// Nothing is encrypted and nobody proves who they are: MPI has neither. Whoever can start ranks
// under one mpirun is trusted (docs/mpi.md).
//
// A message is one of MPI's with the frame, and a second one with the payload where there is one,
// so that a payload is received where it stays; a frame of no bytes says that its sender leaves.
// The communicator is the mesh's own, so that no message of others is mistaken for one.
//
// What MPI cannot tell, and TCP can:
//  - that a member is gone. Under Open MPI, mpirun ends all ranks when one dies, so that mostly
//    there is nobody left to be told; a member that hangs is silent, and only the deadline of who
//    waits for it ends that. Disconnected comes when a member has left, has sent what breaks the
//    rules, or when MPI returns an error that names it.
//  - that there is room. What MPI keeps of frames that nobody has asked for yet is its own affair;
//    payloads wait at their sender, and no more of them are asked for than receive_bytes_max.
//
// MPI moves bytes only while somebody calls it, and has no file to sleep on: receive() asks again
// and again, at first giving way to other threads, then sleeping between two questions, longer
// each time. Long sleeps cost latency, short ones processor time: the numbers are in mpi_mesh.cc.
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
  // Of payloads that are being received at a time, from all members together; one may go over it.
  std::size_t receive_bytes_max = 64u << 20;
  // All ranks open a mesh together, and leave it together: so long they wait for one another.
  std::chrono::milliseconds open_max{30'000};
  std::chrono::milliseconds leave_max{60'000};
};

// Every rank calls it as often as the others do and in the same order. The mesh tells the others
// when it goes, receives what they still send until they go too, and gives up after leave_max:
// what is then under way is abandoned to the session. `session` and `clock` outlive it.
Result<std::unique_ptr<PeerTransport>> open_mpi_mesh(MpiSession& session,
                                                     const MpiMeshOptions& options,
                                                     const Clock& clock);

}  // namespace tributary
