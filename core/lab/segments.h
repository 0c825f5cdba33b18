// Removes lost segments from a packet that the kernel passes uncut (GSO). A real link loses single
// frames, but the kernel passes many in one piece. The remaining pieces are identical to those that
// the sender's kernel would have sent.
#pragma once

#include <vector>

#include "core/base/bytes/bytes.h"

namespace tributary {

// Returns the packet (with its offload header) without the segments i for which lost[i]. `lost` has
// one entry per segment that wire_size() counts. A packet that is not TCP over IPv4 or IPv6 cannot
// be cut: if any part is lost, the result is empty. Any input is safe; the function never reads
// beyond the packet.
std::vector<Bytes> without_segments(ByteSpan packet, const std::vector<bool>& lost);

}  // namespace tributary
