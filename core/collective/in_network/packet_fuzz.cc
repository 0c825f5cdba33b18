// Fuzzes packets: an accepted packet has the size that its header says, and its header is written
// again with the same bytes.
#include <cstdlib>
#include <cstring>

#include "core/collective/in_network/packet.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  using namespace tributary::in_network;
  const auto require = [](bool condition) {
    if (!condition) std::abort();
  };
  const ByteSpan datagram(data, size);
  Packet packet;
  const DropReason reason = parse_packet(datagram, packet);
  if (reason != DropReason::none) {
    require(!packet_fault(reason, datagram).text().empty());
    return 0;
  }
  const PacketHeader& header = packet.header;
  require(size <= kPacketBytesMax && header.agent < header.agents);
  require(packet.body.size() == body_bytes(header.type, header.count, header.wide));
  std::uint8_t again[kHeaderBytes];
  write_header(header, again);
  require(std::memcmp(again, data, kHeaderBytes) == 0);
  return 0;
}
