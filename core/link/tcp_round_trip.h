// The quickest round trip that the kernel has seen on a connection: of the handshake, and of every
// segment whose acknowledgement says which one it was, within some minutes. Delayed
// acknowledgements and queues are in most of them, and not in the quickest.
#pragma once

#include <optional>

namespace tributary {

// Seconds. Nothing where the kernel does not know, or this is no Linux.
std::optional<double> tcp_round_trip_min_s(int file);

}  // namespace tributary
