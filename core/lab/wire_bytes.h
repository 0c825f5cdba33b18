// How much of a line a frame takes that the kernel hands over uncut, to be cut into segments later
// (GSO): the headers go over the line once with each segment.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/bytes/bytes.h"

namespace tributary {

// The kernel's struct virtio_net_hdr, which stands before a frame on a TAP with IFF_VNET_HDR.
struct OffloadHeader {
  std::uint8_t flags = 0;
  std::uint8_t gso_type = 0;
  std::uint16_t header_bytes = 0;
  std::uint16_t segment_bytes = 0;
  std::uint16_t checksum_start = 0;
  std::uint16_t checksum_offset = 0;
};
static_assert(sizeof(OffloadHeader) == 10);

struct WireSize {
  std::size_t bytes = 0;
  std::uint32_t segments = 1;
};

// Of a frame with its offload header before it. What makes no sense counts as one frame as it is:
// the kernel wrote the header, and a wrong count only shifts a time.
WireSize wire_size(ByteSpan packet);

}  // namespace tributary
