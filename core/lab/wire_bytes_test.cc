// Tests of counting the bytes of a packet on the wire, whose headers repeat per segment.
#include "core/lab/wire_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tributary {
namespace {

constexpr std::uint8_t kTcp4 = 1;
constexpr std::size_t kTcpAt = 14 + 20;        // after Ethernet and IPv4
constexpr std::size_t kHeaders = kTcpAt + 32;  // a TCP header with a timestamp option

Bytes packet(const OffloadHeader& header, std::size_t payload_bytes) {
  Bytes bytes(sizeof(header) + kHeaders + payload_bytes, 0);
  std::ranges::copy(bytes_of(std::span(&header, 1)), bytes.begin());
  bytes[sizeof(header) + kTcpAt + 12] = 8 << 4;
  return bytes;
}

OffloadHeader uncut() {
  return {.gso_type = kTcp4, .segment_bytes = 1448, .checksum_start = kTcpAt};
}

TEST(WireBytes, AFrameIsItself) {
  const WireSize size = wire_size(packet({}, 1000));
  EXPECT_EQ(size.bytes, kHeaders + 1000);
  EXPECT_EQ(size.segments, 1u);
}

TEST(WireBytes, HeadersCountOncePerSegment) {
  for (const std::size_t payload : {1u, 1447u, 1448u, 1449u, 2896u, 64'000u}) {
    const std::size_t segments = (payload + 1447) / 1448;
    const WireSize size = wire_size(packet(uncut(), payload));
    EXPECT_EQ(size.segments, segments) << payload;
    EXPECT_EQ(size.bytes, payload + segments * kHeaders) << payload;
  }
}

// Truncated packets must not be read beyond their end.
TEST(WireBytes, AnInvalidPacketCountsAsOneFrame) {
  EXPECT_EQ(wire_size({}).bytes, 0u);
  const Bytes whole = packet(uncut(), 100);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const WireSize wire = wire_size(ByteSpan(whole).first(size));
    EXPECT_LE(wire.bytes, size);
    EXPECT_EQ(wire.segments, 1u);
  }
  OffloadHeader far = uncut();
  far.checksum_start = 0xffff;
  EXPECT_EQ(wire_size(packet(far, 5000)).segments, 1u);
  OffloadHeader none = uncut();
  none.segment_bytes = 0;
  EXPECT_EQ(wire_size(packet(none, 5000)).bytes, kHeaders + 5000);
}

}  // namespace
}  // namespace tributary
