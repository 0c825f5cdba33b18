#include "core/collective/in_network/packet.h"

#include <gtest/gtest.h>

#include <cstring>

namespace tributary::in_network {
namespace {

constexpr PacketHeader kHeader = {.type = PacketType::contribution,
                                  .wide = false,
                                  .agent = 3,
                                  .agents = 4,
                                  .job = 0x0102,
                                  .epoch = 0x03040506,
                                  .sequence = 0x0708090a,
                                  .slot = 0x0b0c,
                                  .count = 128,
                                  .table = 0x0d0e};

Bytes packet_of(const PacketHeader& header) {
  Bytes bytes(kHeaderBytes + (header.type == PacketType::result ? kContributorsBytes : 0) +
                  body_bytes(header.type, header.count, header.wide),
              7);
  write_header(header, bytes.data());
  if (header.type == PacketType::result) write_contributors(0xf, bytes.data() + kHeaderBytes);
  return bytes;
}

DropReason fault_of(const Bytes& bytes) {
  Packet packet;
  const DropReason reason = parse_packet(bytes, packet);
  const bool described = reason == DropReason::none || !packet_fault(reason, bytes).text().empty();
  EXPECT_TRUE(described);
  return reason;
}

TEST(Packet, EveryFieldHasItsOffset) {
  const Bytes bytes = packet_of(kHeader);
  const std::uint8_t expected[kHeaderBytes] = {
      'T', 'N', 1, 1, 2, 1, 3, 4, 6, 5, 4, 3, 10, 9, 8, 7, 0x0c, 0x0b, 128, 0, 0x0e, 0x0d, 0, 0};
  EXPECT_EQ(std::memcmp(bytes.data(), expected, kHeaderBytes), 0);
}

TEST(Packet, IsReadAsWritten) {
  for (const bool wide : {false, true}) {
    for (const PacketType type :
         {PacketType::contribution, PacketType::result, PacketType::refusal}) {
      PacketHeader header = kHeader;
      header.type = type;
      header.wide = wide;
      if (type == PacketType::refusal) header.reason = DropReason::old_epoch;
      const Bytes bytes = packet_of(header);
      Packet packet;
      ASSERT_EQ(parse_packet(bytes, packet), DropReason::none);
      EXPECT_EQ(packet.header, header);
      EXPECT_EQ(packet.contributors, type == PacketType::result ? 0xfu : 0u);
      EXPECT_EQ(packet.body.size(), body_bytes(type, 128, wide));
    }
  }
}

TEST(Packet, EveryOtherLengthIsAFault) {
  Bytes bytes = packet_of(kHeader);
  const Bytes whole = bytes;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    bytes = whole;
    bytes.resize(size);
    EXPECT_EQ(fault_of(bytes), DropReason::too_short) << size;
  }
  bytes = whole;
  bytes.push_back(0);
  EXPECT_EQ(fault_of(bytes), DropReason::too_long);
}

TEST(Packet, AFieldThatNoPacketHasIsAFault) {
  const auto with = [](std::size_t at, std::uint8_t value) {
    Bytes bytes = packet_of(kHeader);
    bytes[at] = value;
    return fault_of(bytes);
  };
  EXPECT_EQ(with(0, 'X'), DropReason::foreign);
  EXPECT_EQ(with(2, 2), DropReason::foreign);
  EXPECT_EQ(with(3, 0), DropReason::foreign);
  EXPECT_EQ(with(3, 4), DropReason::foreign);
  EXPECT_EQ(with(22, 2), DropReason::foreign);
  EXPECT_EQ(with(23, 1), DropReason::foreign);  // a reason without a refusal
  EXPECT_EQ(with(6, 4), DropReason::wrong_agent);
  EXPECT_EQ(with(7, 0), DropReason::wrong_agent);
  EXPECT_EQ(with(7, 65), DropReason::wrong_agent);
  EXPECT_EQ(with(18, 0), DropReason::wrong_count);
  EXPECT_EQ(with(18, 127), DropReason::wrong_count);
  EXPECT_EQ(with(19, 5), DropReason::wrong_count);  // 1408
}

TEST(Packet, AFaultSaysWhatWasExpected) {
  Bytes bytes = packet_of(kHeader);
  bytes.pop_back();
  EXPECT_EQ(packet_fault(DropReason::too_short, bytes).text(),
            "corrupt_data: a packet of sums in the network: expected 88 bytes for 128 values, got "
            "87 bytes");
}

TEST(Packet, ContributorsBeyondTheAgentsAreAFault) {
  PacketHeader header = kHeader;
  header.type = PacketType::result;
  Bytes bytes = packet_of(header);
  bytes[kHeaderBytes] = 0x1f;
  EXPECT_EQ(fault_of(bytes), DropReason::wrong_agent);
}

TEST(Packet, EveryReasonHasAName) {
  for (std::size_t i = 0; i < kDropReasons; ++i) {
    EXPECT_FALSE(name(static_cast<DropReason>(i)).empty());
  }
}

}  // namespace
}  // namespace tributary::in_network
