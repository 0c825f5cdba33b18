// Peers on lines that are slower and longer than the real ones: the mesh's counterpart of shaped.h.
// A member has one line to all others, so that what it sends to them waits for each other, and so
// does what they send to it; a message crosses two lines, the sender's and the receiver's, and both
// delay it.
//
// Nothing is lost, as on TCP, which sends it again: what the shape loses takes its time on the line
// once more. A message is handed out whole; when it came is told as if its bytes had come one after
// the other at the line's rate. A round trip is taken to cross a line like one's own at the other
// end.
#pragma once

#include <memory>

#include "core/base/clock.h"
#include "core/net/mesh/mesh.h"
#include "core/net/mesh/peer_port.h"
#include "core/net/shaped/shaped_line.h"

namespace tributary {

// `clock` is the inner mesh's and outlives this.
Result<std::unique_ptr<Mesh>> make_shaped_mesh(std::unique_ptr<Mesh> inner, const MeshOptions& mesh,
                                               const Clock& clock, const ShapedLine& line,
                                               std::size_t bytes_max);

// Meshes of all epochs, on one line: its trace goes on from one to the next.
Result<std::unique_ptr<PeerPort>> make_shaped_peer_port(std::unique_ptr<PeerPort> inner,
                                                        const Clock& clock,
                                                        const ShapedOptions& options);

}  // namespace tributary
