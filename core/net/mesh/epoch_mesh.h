// Makes transports of consecutive epochs over one mesh that outlives them. It is for meshes whose
// connections cannot be made anew for each epoch, such as MPI. An epoch may use some of the mesh's
// members, in another order. A message of one epoch is never delivered in another.
//
// Epochs do not change on all members at the same time, and a member may never join. Every frame
// therefore carries the number of its session, and a member sends a hello before its first message
// to another member:
//   hello    the sender is in this session; the receiver remembers it until the sender reports
//            another session
//   welcome  the answer to a hello: the receiver is in the session too
//   piece    a message
//   goodbye  the sender has left the session
// Messages for a member are queued until any frame of the session has arrived from it. A member
// that does not answer within connect_max is lost, and the messages queued for it are dropped. A
// member that sends a frame of another session has left this one. Frames of other sessions are
// dropped, and only their session number is kept. No message is lost by that, because a member
// sends messages only after it knows that the receiver is in the session.
//
// Thread rule: it belongs to one thread at a time; only a transport's wake() may be called from any
// thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/net/peer_transport.h"

namespace tributary {

inline constexpr std::size_t kEpochTrailerBytes = 9;  // behind every frame: session and kind

struct EpochMeshOptions {
  // Number of the epoch's session.
  std::uint64_t session = 0;
  std::uint32_t rank = 0;                    // this member's rank within the epoch
  std::vector<std::uint32_t> members;        // the mesh's rank of each member of the epoch
  LinkLimits limits = kPeerLimits;           // frame limit plus trailer must fit the mesh's limit
  std::chrono::milliseconds connect_max{0};  // how long to wait for a member's answer
};

// The factory of the transports of all epochs. It owns the mesh and remembers the session of each
// member between epochs.
class EpochMeshes {
 public:
  // `beneath` has all members that any epoch may ever have, and stays connected for the lifetime of
  // the process. `clock` must outlive this object.
  EpochMeshes(std::unique_ptr<PeerTransport> beneath, const Clock& clock);
  ~EpochMeshes();
  EpochMeshes(const EpochMeshes&) = delete;
  EpochMeshes& operator=(const EpochMeshes&) = delete;

  // Opens the transport of one epoch. The caller keeps at most one open, and destroys it before
  // this object. Returns mismatch if the limits do not fit the mesh.
  Result<std::unique_ptr<Transport>> open(const EpochMeshOptions& options);

 private:
  class EpochMesh;
  struct Rank {
    std::uint64_t greeted = 0;  // session that the member is in, by its last frame; 0: none
    Status gone;                // an error if the mesh has lost the member
  };

  const std::unique_ptr<PeerTransport> beneath_;
  const Clock& clock_;
  std::vector<Rank> ranks_;
};

}  // namespace tributary
