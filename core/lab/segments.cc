#include "core/lab/segments.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/lab/wire_bytes.h"

namespace tributary {
namespace {

constexpr std::size_t kIpAt = 14;  // after the Ethernet header
constexpr std::size_t kIp6HeaderBytes = 40;
constexpr std::uint8_t kTcp = 6;

// Offsets and flags of a TCP header.
constexpr std::size_t kSequenceByte = 4;
constexpr std::size_t kFlagsByte = 13;
constexpr std::size_t kChecksumByte = 16;
constexpr std::size_t kHeaderBytesMin = 20;
constexpr std::uint8_t kFinAndPush = 0x01 | 0x08;  // only on the last segment
constexpr std::uint8_t kCongestionReduced = 0x80;  // only on the first segment

// Reads a big-endian field.
std::uint32_t get(ByteSpan bytes, std::size_t at, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value = value << 8 | bytes[at + i];
  return value;
}

// Writes a big-endian field.
void set(MutableByteSpan bytes, std::size_t at, std::size_t size, std::uint32_t value) {
  for (std::size_t i = size; i-- > 0; value >>= 8) bytes[at + i] = static_cast<std::uint8_t>(value);
}

// Adds the Internet checksum of `bytes` to `sum`, without the final inversion.
std::uint32_t sum_of(ByteSpan bytes, std::uint32_t sum) {
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) sum += get(bytes, i, 2);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

// Offsets are relative to the frame, after the offload header.
struct Layout {
  OffloadHeader offload;
  bool ip6 = false;
  std::size_t tcp_at = 0;
  std::size_t payload_at = 0;
};

// Empty if the packet is not TCP over IP or its headers are inconsistent.
std::optional<Layout> layout_of(ByteSpan packet) {
  constexpr std::uint32_t kIp4Type = 0x0800;
  constexpr std::uint32_t kIp6Type = 0x86dd;
  Layout layout;
  if (packet.size() < sizeof(layout.offload) + kIpAt + kIp6HeaderBytes) return std::nullopt;
  std::memcpy(&layout.offload, packet.data(), sizeof(layout.offload));
  const ByteSpan frame = packet.subspan(sizeof(layout.offload));
  const std::uint32_t type = get(frame, kIpAt - 2, 2);
  layout.ip6 = type == kIp6Type;
  if (!layout.ip6 && type != kIp4Type) return std::nullopt;
  const std::uint8_t protocol = frame[kIpAt + (layout.ip6 ? 6u : 9u)];
  const std::size_t ip_bytes = layout.ip6 ? kIp6HeaderBytes : (frame[kIpAt] & 0xf) * std::size_t{4};
  layout.tcp_at = kIpAt + ip_bytes;
  if (protocol != kTcp || layout.offload.checksum_start != layout.tcp_at ||
      layout.tcp_at + kHeaderBytesMin > frame.size()) {
    return std::nullopt;
  }
  const std::size_t tcp_bytes = (frame[layout.tcp_at + 12] >> 4) * std::size_t{4};
  layout.payload_at = layout.tcp_at + tcp_bytes;
  if (tcp_bytes < kHeaderBytesMin || layout.payload_at >= frame.size()) return std::nullopt;
  return layout;
}

void set_ip_length(const Layout& layout, MutableByteSpan frame, std::uint32_t first_segment) {
  const auto behind_ethernet = static_cast<std::uint32_t>(frame.size() - kIpAt);
  if (layout.ip6) {
    set(frame, kIpAt + 4, 2, behind_ethernet - std::uint32_t{kIp6HeaderBytes});
    return;
  }
  set(frame, kIpAt + 2, 2, behind_ethernet);
  // Each segment has its own IP identification.
  set(frame, kIpAt + 4, 2, get(frame, kIpAt + 4, 2) + first_segment);
  set(frame, kIpAt + 10, 2, 0);
  set(frame, kIpAt + 10, 2, ~sum_of(frame.subspan(kIpAt, layout.tcp_at - kIpAt), 0));
}

// Writes the partial checksum of the pseudo header (addresses, protocol and length). The device
// that sends the frame completes it.
void set_tcp_checksum(const Layout& layout, MutableByteSpan frame) {
  const ByteSpan addresses =
      layout.ip6 ? frame.subspan(kIpAt + 8, 32) : frame.subspan(kIpAt + 12, 8);
  const auto tcp_bytes = static_cast<std::uint32_t>(frame.size() - layout.tcp_at);
  set(frame, layout.tcp_at + kChecksumByte, 2, sum_of(addresses, kTcp + tcp_bytes));
}

// Returns the segments [first, last) as one packet.
Bytes piece(const Layout& layout, ByteSpan packet, std::size_t first, std::size_t last) {
  const std::size_t segment_bytes = layout.offload.segment_bytes;
  const ByteSpan headers = packet.first(sizeof(OffloadHeader) + layout.payload_at);
  const ByteSpan payload = packet.subspan(headers.size());
  const std::size_t begin = first * segment_bytes;
  const std::size_t end = std::min(last * segment_bytes, payload.size());
  Bytes bytes(headers.begin(), headers.end());
  bytes.insert(bytes.end(), payload.begin() + static_cast<std::ptrdiff_t>(begin),
               payload.begin() + static_cast<std::ptrdiff_t>(end));

  OffloadHeader offload = layout.offload;
  offload.header_bytes = static_cast<std::uint16_t>(layout.payload_at);
  // A single segment needs no further cutting by the kernel.
  if (end - begin <= segment_bytes) {
    offload.gso_type = 0;
    offload.segment_bytes = 0;
  }
  std::memcpy(bytes.data(), &offload, sizeof(offload));

  const MutableByteSpan frame = MutableByteSpan(bytes).subspan(sizeof(offload));
  const std::size_t sequence_at = layout.tcp_at + kSequenceByte;
  set(frame, sequence_at, 4, get(frame, sequence_at, 4) + static_cast<std::uint32_t>(begin));
  std::uint8_t& flags = frame[layout.tcp_at + kFlagsByte];
  if (end < payload.size()) flags &= static_cast<std::uint8_t>(~kFinAndPush);
  if (begin > 0) flags &= static_cast<std::uint8_t>(~kCongestionReduced);
  set_ip_length(layout, frame, static_cast<std::uint32_t>(first));
  set_tcp_checksum(layout, frame);
  return bytes;
}

}  // namespace

std::vector<Bytes> without_segments(ByteSpan packet, const std::vector<bool>& lost) {
  if (std::ranges::find(lost, true) == lost.end()) return {Bytes(packet.begin(), packet.end())};
  std::vector<Bytes> pieces;
  const std::optional<Layout> layout = layout_of(packet);
  if (!layout || layout->offload.segment_bytes == 0 || wire_size(packet).segments != lost.size()) {
    return pieces;
  }
  for (std::size_t first = 0; first < lost.size();) {
    std::size_t last = first;
    while (last < lost.size() && !lost[last]) ++last;
    if (last > first) pieces.push_back(piece(*layout, packet, first, last));
    first = last + 1;
  }
  return pieces;
}

}  // namespace tributary
