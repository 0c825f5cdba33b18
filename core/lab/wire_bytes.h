// Computes the bytes on the wire of a frame that the kernel passes uncut and later cuts into
// segments (GSO): the headers are sent once per segment. The function is pure.
//
// It reads only within the packet, whatever the headers contain, and it reports no damage.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/bytes/bytes.h"

namespace tributary {

// The kernel's struct virtio_net_hdr, which precedes a frame on a TAP with IFF_VNET_HDR.
struct OffloadHeader {
  std::uint8_t flags = 0;
  std::uint8_t gso_type = 0;
  std::uint16_t header_bytes = 0;
  std::uint16_t segment_bytes = 0;
  std::uint16_t checksum_start = 0;
  std::uint16_t checksum_offset = 0;
};
static_assert(sizeof(OffloadHeader) == 10);

// Bytes on the wire of all segments, and their number.
struct WireSize {
  std::size_t bytes = 0;
  std::uint32_t segments = 1;
};

// Size of a frame that follows its offload header. A frame with inconsistent headers counts as one
// segment: the kernel wrote the header, and a wrong count only shifts a time.
WireSize wire_size(ByteSpan packet);

}  // namespace tributary
