// Peers on lines that are slower and longer than the real ones. A member has one line to all
// others; a message crosses two lines, the sender's and the receiver's, and both delay it. Nothing
// is lost (kShapedPeers).
#pragma once

#include <memory>

#include "core/base/clock.h"
#include "core/net/mesh/peer_port.h"
#include "core/net/shaped/shaped_line.h"

namespace tributary {

// The transports of all epochs, on one line: its trace goes on from one to the next. Each holds as
// much as its own send queue on the way out, and `options.bytes_max` on the way in. `clock` is the
// inner port's and outlives this.
Result<std::unique_ptr<PeerPort>> make_shaped_peer_port(std::unique_ptr<PeerPort> inner,
                                                        const Clock& clock,
                                                        const ShapedOptions& options);

}  // namespace tributary
