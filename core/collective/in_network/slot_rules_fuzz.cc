// Fuzzes the rules with any sequence of packets: every packet is counted once, and a reply is a
// packet of the right form.
#include <algorithm>
#include <cstdlib>

#include "core/collective/in_network/slot_rules.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  using namespace tributary::in_network;
  const auto require = [](bool condition) {
    if (!condition) std::abort();
  };
  auto rules = SlotRules::make(4);
  SlotJob job = {.handle = 7, .epoch = 1, .agents = 2, .granularity = 15, .table = 99, .slots = 2};
  job.packet_values = 128;
  for (std::uint16_t i = 0; i < 16; ++i) job.places[i] = i;
  require(rules.ok() && rules->install(job).ok());
  std::uint8_t reply[kPacketBytesMax];
  std::uint64_t packets = 0;
  // Each packet follows its length and its source, a byte each; a length counts 8 bytes.
  while (size >= 2) {
    const std::size_t length = std::min<std::size_t>(8u * data[0], size - 2);
    const SlotReply answer = rules->handle(ByteSpan(data + 2, length), 1u + data[1] % 3, reply);
    ++packets;
    require((answer.to == ReplyTo::none) == (answer.bytes == 0));
    Packet packet;
    require(answer.bytes == 0 ||
            parse_packet(ByteSpan(reply, answer.bytes), packet) == DropReason::none);
    require(packet.header.type != PacketType::result || packet.header.count <= job.packet_values);
    data += 2 + length;
    size -= 2 + length;
  }
  const SlotCounters& counters = rules->counters();
  require(counters.contributions + counters.repeats + counters.dropped() == packets);
  return 0;
}
