// Tests of splitting a large TCP packet into segments, so that each can be lost by itself.
#include "core/lab/segments.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "core/lab/wire_bytes.h"

namespace tributary {
namespace {

constexpr std::uint16_t kSegmentBytes = 1000;
constexpr std::uint32_t kSequence = 0xffff'fe00;            // the sequence number wraps around
constexpr std::uint8_t kFlags = 0x80 | 0x10 | 0x08 | 0x01;  // CWR, ACK, PSH, FIN

struct Headers {
  std::size_t tcp_at;
  std::size_t payload_at;
};
constexpr Headers kIp4 = {.tcp_at = 14 + 20, .payload_at = 14 + 20 + 32};
constexpr Headers kIp6 = {.tcp_at = 14 + 40, .payload_at = 14 + 40 + 32};

std::uint32_t get(ByteSpan bytes, std::size_t at, std::size_t size) {
  return std::accumulate(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                         bytes.begin() + static_cast<std::ptrdiff_t>(at + size), 0u,
                         [](std::uint32_t sum, std::uint8_t byte) { return sum << 8 | byte; });
}
void set(Bytes& bytes, std::size_t at, std::initializer_list<int> values) {
  for (const int value : values) bytes[at++] = static_cast<std::uint8_t>(value);
}

// A packet as the sender's kernel passes it: fields that depend on the segment's length are not
// final.
Bytes packet(bool ip6, std::size_t payload_bytes) {
  const Headers& headers = ip6 ? kIp6 : kIp4;
  const OffloadHeader offload = {.flags = 1,
                                 .gso_type = static_cast<std::uint8_t>(ip6 ? 4 : 1),
                                 .header_bytes = static_cast<std::uint16_t>(headers.payload_at),
                                 .segment_bytes = kSegmentBytes,
                                 .checksum_start = static_cast<std::uint16_t>(headers.tcp_at),
                                 .checksum_offset = 16};
  Bytes frame(headers.payload_at + payload_bytes, 0);
  if (ip6) {
    set(frame, 12, {0x86, 0xdd, 0x60});
    set(frame, 14 + 6, {6});
    std::iota(frame.begin() + 14 + 8, frame.begin() + 14 + 40, std::uint8_t{200});
  } else {
    set(frame, 12, {0x08, 0x00, 0x45, 0, 0, 0, 0x12, 0x34, 0x40, 0, 64, 6, 0, 0});
    set(frame, 14 + 12, {10, 77, 0, 1, 10, 77, 0, 2});
  }
  set(frame, headers.tcp_at + 4, {0xff, 0xff, 0xfe, 0x00});
  set(frame, headers.tcp_at + 12, {8 << 4, kFlags});
  for (std::size_t i = 0; i < payload_bytes; ++i) {
    frame[headers.payload_at + i] = static_cast<std::uint8_t>(i * 7 + i / 251);
  }
  const ByteSpan bytes = bytes_of(std::span(&offload, 1));
  frame.insert(frame.begin(), bytes.begin(), bytes.end());
  return frame;
}

std::uint32_t sum(ByteSpan bytes, std::uint32_t begin) {
  std::uint64_t sum = begin;
  for (std::size_t i = 0; i < bytes.size(); ++i) sum += bytes[i] * (i % 2 == 0 ? 256u : 1u);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint32_t>(sum);
}

// Properties of every piece, whatever was lost. `begin` is the offset of its payload.
void check_piece(bool ip6, ByteSpan piece, ByteSpan whole, std::size_t begin, bool is_last) {
  const Headers& headers = ip6 ? kIp6 : kIp4;
  const ByteSpan frame = piece.subspan(sizeof(OffloadHeader));
  const ByteSpan payload = frame.subspan(headers.payload_at);
  const ByteSpan all = whole.subspan(sizeof(OffloadHeader) + headers.payload_at);
  EXPECT_TRUE(std::ranges::equal(payload, all.subspan(begin, payload.size())));
  EXPECT_EQ(get(frame, headers.tcp_at + 4, 4), kSequence + static_cast<std::uint32_t>(begin));

  OffloadHeader offload;
  std::memcpy(&offload, piece.data(), sizeof(offload));
  EXPECT_EQ(offload.flags, 1);
  EXPECT_EQ(offload.gso_type != 0, payload.size() > kSegmentBytes);
  EXPECT_EQ(offload.segment_bytes, payload.size() > kSegmentBytes ? kSegmentBytes : 0);

  const std::uint32_t flags = frame[headers.tcp_at + 13];
  EXPECT_EQ((flags & 0x09) != 0, is_last) << "FIN and PSH";
  EXPECT_EQ((flags & 0x80) != 0, begin == 0) << "CWR";
  EXPECT_EQ(flags & 0x10, 0x10u);

  const auto tcp_bytes = static_cast<std::uint32_t>(frame.size() - headers.tcp_at);
  const ByteSpan addresses = ip6 ? frame.subspan(14 + 8, 32) : frame.subspan(14 + 12, 8);
  EXPECT_EQ(get(frame, headers.tcp_at + 16, 2), sum(addresses, 6 + tcp_bytes));
  if (ip6) {
    EXPECT_EQ(get(frame, 14 + 4, 2), tcp_bytes);
  } else {
    EXPECT_EQ(get(frame, 14 + 2, 2), frame.size() - 14);
    EXPECT_EQ(get(frame, 14 + 4, 2), 0x1234u + begin / kSegmentBytes);
    EXPECT_EQ(sum(frame.subspan(14, 20), 0), 0xffffu) << "the header's own checksum";
  }
}

// All patterns of loss, for IPv4 and IPv6 and for different lengths of the last segment.
TEST(Segments, ALossRemovesOneSegmentAndKeepsTheRest) {
  for (const bool ip6 : {false, true}) {
    for (const std::size_t payload : {2001u, 4000u, 4999u}) {
      const Bytes whole = packet(ip6, payload);
      const std::size_t segments = wire_size(whole).segments;
      for (std::uint32_t mask = 1; mask < 1u << segments; ++mask) {
        std::vector<bool> lost;
        for (std::size_t i = 0; i < segments; ++i) lost.push_back((mask >> i & 1u) != 0);
        std::size_t kept = 0;
        std::size_t at = 0;
        for (const Bytes& piece : without_segments(whole, lost)) {
          while (lost[at]) ++at;
          const std::size_t bytes =
              piece.size() - sizeof(OffloadHeader) - (ip6 ? kIp6 : kIp4).payload_at;
          check_piece(ip6, piece, whole, at * kSegmentBytes, at * kSegmentBytes + bytes == payload);
          const std::size_t pieces = (bytes + kSegmentBytes - 1) / kSegmentBytes;
          EXPECT_TRUE(at + pieces == segments || lost[at + pieces]) << "cut where it need not be";
          for (std::size_t i = 0; i < pieces; ++i) EXPECT_FALSE(lost[at + i]);
          at += pieces;
          kept += pieces;
        }
        EXPECT_EQ(kept, static_cast<std::size_t>(std::ranges::count(lost, false)));
      }
    }
  }
}

TEST(Segments, WithoutALossThePacketIsAsItWas) {
  const Bytes whole = packet(false, 3000);
  EXPECT_THAT(without_segments(whole, {false, false, false}), testing::ElementsAre(whole));
}

TEST(Segments, OtherProtocolsAreNotSplit) {
  Bytes udp = packet(false, 3000);
  udp[sizeof(OffloadHeader) + 14 + 9] = 17;
  EXPECT_THAT(without_segments(udp, {true, false, false}), testing::IsEmpty());
  EXPECT_THAT(without_segments({}, {true}), testing::IsEmpty());
  EXPECT_THAT(without_segments(packet(true, 3000), {true, false}), testing::IsEmpty())
      << "a wrong number of segments";
  const Bytes whole = packet(true, 3000);
  for (std::size_t size = 0; size < 100; ++size) {
    EXPECT_THAT(without_segments(ByteSpan(whole).first(size), {true}), testing::IsEmpty());
  }
}

}  // namespace
}  // namespace tributary
