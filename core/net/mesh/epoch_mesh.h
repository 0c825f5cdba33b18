// Transports of epochs, one after the other, over one mesh that outlives them, where connections
// cannot be made anew for each: some of its members, in another order, with what is of one epoch
// never mistaken for another's.
//
// Epochs do not change everywhere at once, and a member may not come at all. So each frame says
// whose session it is of, and before the first one a member is asked whether it is there:
//   hello    I am in this session. Remembered until its sender says another thing.
//   welcome  so am I. What waits for a member is sent when it has said anything of the session.
//   piece    a message
//   goodbye  I have left it
// Who does not answer is lost after connect_max; whoever says a thing of another session has left
// this one. What comes of another session is dropped, so that nothing of it is ever held but its
// number; that is right because nobody sends it before it was told that this one is there.
//
// Belongs to one thread at a time; only a mesh's wake() may be called from any.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/net/peer_transport.h"

namespace tributary {

inline constexpr std::size_t kEpochTrailerBytes = 9;  // behind a frame: of which session, and what

struct EpochMeshOptions {
  std::uint64_t session = 0;
  std::uint32_t rank = 0;              // in the epoch: which of these is its own
  std::vector<std::uint32_t> members;  // their ranks in the mesh beneath
  LinkLimits limits = kPeerLimits;  // a frame with its trailer: not above that of the mesh beneath
  std::chrono::milliseconds connect_max{0};
};

class EpochMeshes {
 public:
  // The mesh beneath has all who will ever be members, and is open for as long as the process
  // lives. `clock` outlives it.
  EpochMeshes(std::unique_ptr<PeerTransport> beneath, const Clock& clock);
  ~EpochMeshes();
  EpochMeshes(const EpochMeshes&) = delete;
  EpochMeshes& operator=(const EpochMeshes&) = delete;

  // One at a time; it goes before this does.
  Result<std::unique_ptr<Transport>> open(const EpochMeshOptions& options);

 private:
  class EpochMesh;
  struct Rank {
    std::uint64_t greeted = 0;  // the session that it is in, as far as it has said
    Status gone;                // an error: the mesh beneath has lost it
  };

  const std::unique_ptr<PeerTransport> beneath_;
  const Clock& clock_;
  std::vector<Rank> ranks_;
};

}  // namespace tributary
