// Packets of sums in the network: the bytes that agents and an aggregator exchange by UDP.
//
// A packet is a header of 24 bytes, little-endian, and a body (docs/in_network.md has the table of
// offsets). The functions are pure, allocate nothing and read no byte outside the span. Anybody may
// send a packet, so nothing in it is trusted before parse_packet() has accepted it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"

namespace tributary::in_network {

inline constexpr std::size_t kHeaderBytes = 24;
inline constexpr std::size_t kContributorsBytes = 8;    // the bitmap before the sums of a result
inline constexpr std::uint32_t kAgentsMax = 64;         // bits of that bitmap
inline constexpr std::uint32_t kCountUnit = 64;         // values of a packet come in groups
inline constexpr std::uint32_t kCountMaxNarrow = 1024;  // values with sums of 8 bits
inline constexpr std::uint32_t kCountMaxWide = 512;     // values with sums of 16 bits
inline constexpr std::size_t kSumsBytesMax = 1024;
inline constexpr std::size_t kPacketBytesMax = kHeaderBytes + kContributorsBytes + kSumsBytesMax;

enum class PacketType : std::uint8_t {
  contribution = 1,  // levels of one agent, 4 bits each; element 2i has the low nibble
  result = 2,        // contributors and sums
  refusal = 3,       // no body; `reason` says why the contribution was refused
};

// Why a packet is not taken. Each has a counter. The numbers are part of the format (refusals) and
// of the shared vectors: new ones are added at the end.
enum class DropReason : std::uint8_t {
  none,
  too_short,      // fewer bytes than the header says
  too_long,       // more bytes than the header says
  foreign,        // other magic, version, type or flags, or the source is not the agent's
  replayed,       // a phase before the previous one
  early,          // a phase that cannot have begun
  old_epoch,      //
  future_epoch,   //
  unknown_job,    // no epoch of this job is installed, as after a restart
  unknown_phase,  // an empty slot and a phase that is not the first
  wrong_count,    // number of values
  wrong_table,    // fingerprint of the table
  wrong_agent,    // number of the agent, or number of agents
  wrong_slot,     // beyond the job's quota
  sum_too_wide,   // the width of the sums is not the job's
};
inline constexpr std::size_t kDropReasons = 15;

// The name in counters and texts, for example "old_epoch".
std::string_view name(DropReason reason);

struct PacketHeader {
  PacketType type = PacketType::contribution;
  bool wide = false;  // sums have 16 bits
  DropReason reason = DropReason::none;
  std::uint8_t agent = 0;
  std::uint8_t agents = 0;
  std::uint16_t job = 0;
  std::uint32_t epoch = 0;
  std::uint32_t sequence = 0;  // phase of the slot
  std::uint16_t slot = 0;
  std::uint16_t count = 0;  // values
  std::uint16_t table = 0;  // fingerprint

  friend bool operator==(const PacketHeader&, const PacketHeader&) = default;
};

struct Packet {
  PacketHeader header;
  std::uint64_t contributors = 0;  // of a result
  ByteSpan body;                   // levels or sums; points into the datagram
};

// Largest number of values of a packet.
constexpr std::uint32_t count_max(bool wide) { return wide ? kCountMaxWide : kCountMaxNarrow; }
// The same for an aggregator that adds at most `packet_values` values in a packet; 0: any number.
constexpr std::uint32_t count_max(bool wide, std::uint32_t packet_values) {
  const std::uint32_t most = count_max(wide);
  return packet_values == 0 || packet_values > most ? most : packet_values;
}
// Size of a packet's levels or sums.
constexpr std::size_t body_bytes(PacketType type, std::uint32_t count, bool wide) {
  switch (type) {
    case PacketType::contribution:
      return count / 2;
    case PacketType::result:
      return std::size_t{count} * (wide ? 2 : 1);
    case PacketType::refusal:
      break;
  }
  return 0;
}

// Reads a datagram. Returns `none` and fills `packet`, or returns the first fault.
DropReason parse_packet(ByteSpan datagram, Packet& packet);
// The description of a fault that parse_packet() found in this datagram.
Status packet_fault(DropReason reason, ByteSpan datagram);

// Writes a header; the body follows it.
void write_header(const PacketHeader& header, std::uint8_t* out);
// Writes the bitmap that follows the header of a result.
void write_contributors(std::uint64_t contributors, std::uint8_t* out);

}  // namespace tributary::in_network
