#include "core/lab/wire_bytes.h"

#include <cstring>

namespace tributary {
namespace {

constexpr std::uint8_t kNoSegments = 0;
// In a TCP header; its upper four bits count 32-bit words.
constexpr std::size_t kDataOffsetByte = 12;

}  // namespace

WireSize wire_size(ByteSpan packet) {
  OffloadHeader header;
  if (packet.size() < sizeof(header)) return {.bytes = packet.size()};
  std::memcpy(&header, packet.data(), sizeof(header));
  const ByteSpan frame = packet.subspan(sizeof(header));
  const std::size_t tcp = header.checksum_start;
  if (header.gso_type == kNoSegments || header.segment_bytes == 0 ||
      tcp + kDataOffsetByte >= frame.size()) {
    return {.bytes = frame.size()};
  }
  const std::size_t headers = tcp + (frame[tcp + kDataOffsetByte] >> 4) * std::size_t{4};
  if (headers >= frame.size()) return {.bytes = frame.size()};
  const std::size_t payload = frame.size() - headers;
  // The last segment may be shorter; every segment has its own headers.
  const std::size_t segments = (payload + header.segment_bytes - 1) / header.segment_bytes;
  return {.bytes = payload + segments * headers, .segments = static_cast<std::uint32_t>(segments)};
}

}  // namespace tributary
