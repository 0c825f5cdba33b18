// A line loses single frames, but the kernel hands over many in one piece (GSO). Here such a piece
// is cut around what is lost: what remains is as the sender's kernel would have sent it.
#pragma once

#include <vector>

#include "core/base/bytes/bytes.h"

namespace tributary {

// The packet (with its offload header) without the segments i for which lost[i]; `lost` has one
// entry for each segment that wire_size() counts. A packet that is not TCP over IPv4 or IPv6 goes
// whole: nothing remains of it if any part is lost.
std::vector<Bytes> without_segments(ByteSpan packet, const std::vector<bool>& lost);

}  // namespace tributary
