// A peer port on a shaped link. A member has one link to all other members. A message crosses two
// links, the sender's and the receiver's, and both delay it. A message that the shape loses takes
// its time on the link again, as when TCP retransmits, so that nothing is lost (kShapedPeers).
// Thread rule: as for PeerPort.
#pragma once

#include <memory>

#include "core/base/clock.h"
#include "core/net/mesh/peer_port.h"
#include "core/net/shaped/shaped_link.h"

namespace tributary {

// Wraps `inner`. The transports of all epochs use one link, whose trace continues from one epoch to
// the next. Each holds as many outgoing bytes as its own send queue, and `options.bytes_max`
// incoming bytes. Returns invalid_argument for a shape out of range. `clock` must be the inner
// port's clock and outlive the result.
Result<std::unique_ptr<PeerPort>> make_shaped_peer_port(std::unique_ptr<PeerPort> inner,
                                                        const Clock& clock,
                                                        const ShapedOptions& options);

}  // namespace tributary
