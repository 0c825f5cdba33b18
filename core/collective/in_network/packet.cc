#include "core/collective/in_network/packet.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace tributary::in_network {
namespace {

constexpr std::uint16_t kMagic = 0x4e54;  // "TN"
constexpr std::uint8_t kVersion = 1;
constexpr std::uint8_t kWideFlag = 1;

// Offsets of the header's fields.
constexpr std::size_t kVersionAt = 2;
constexpr std::size_t kTypeAt = 3;
constexpr std::size_t kJobAt = 4;
constexpr std::size_t kAgentAt = 6;
constexpr std::size_t kAgentsAt = 7;
constexpr std::size_t kEpochAt = 8;
constexpr std::size_t kSequenceAt = 12;
constexpr std::size_t kSlotAt = 16;
constexpr std::size_t kCountAt = 18;
constexpr std::size_t kTableAt = 20;
constexpr std::size_t kFlagsAt = 22;
constexpr std::size_t kReasonAt = 23;

template <typename T>
T field_at(const std::uint8_t* bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes + at, sizeof(value));
  return value;
}

template <typename T>
void put_field(T value, std::uint8_t* bytes, std::size_t at) {
  std::memcpy(bytes + at, &value, sizeof(value));
}

constexpr std::array<std::string_view, kDropReasons> kReasonNames = {
    "none",        "too_short",   "too_long",     "foreign",     "replayed",
    "early",       "old_epoch",   "future_epoch", "unknown_job", "unknown_phase",
    "wrong_count", "wrong_table", "wrong_agent",  "wrong_slot",  "sum_too_wide"};

bool known_form(const std::uint8_t* bytes) {
  const std::uint8_t type = bytes[kTypeAt];
  const bool refusal = type == static_cast<std::uint8_t>(PacketType::refusal);
  return field_at<std::uint16_t>(bytes, 0) == kMagic && bytes[kVersionAt] == kVersion &&
         type >= static_cast<std::uint8_t>(PacketType::contribution) &&
         type <= static_cast<std::uint8_t>(PacketType::refusal) &&
         (bytes[kFlagsAt] & ~kWideFlag) == 0 && bytes[kReasonAt] < kDropReasons &&
         (bytes[kReasonAt] != 0) == refusal;
}

bool good_count(const PacketHeader& header) {
  if (header.type == PacketType::refusal) return header.count <= count_max(header.wide);
  return header.count > 0 && header.count % kCountUnit == 0 &&
         header.count <= count_max(header.wide);
}

std::size_t whole_bytes(const PacketHeader& header) {
  return kHeaderBytes + (header.type == PacketType::result ? kContributorsBytes : 0) +
         body_bytes(header.type, header.count, header.wide);
}

PacketHeader header_of(const std::uint8_t* bytes) {
  return {.type = static_cast<PacketType>(bytes[kTypeAt]),
          .wide = (bytes[kFlagsAt] & kWideFlag) != 0,
          .reason = static_cast<DropReason>(bytes[kReasonAt]),
          .agent = bytes[kAgentAt],
          .agents = bytes[kAgentsAt],
          .job = field_at<std::uint16_t>(bytes, kJobAt),
          .epoch = field_at<std::uint32_t>(bytes, kEpochAt),
          .sequence = field_at<std::uint32_t>(bytes, kSequenceAt),
          .slot = field_at<std::uint16_t>(bytes, kSlotAt),
          .count = field_at<std::uint16_t>(bytes, kCountAt),
          .table = field_at<std::uint16_t>(bytes, kTableAt)};
}

}  // namespace

std::string_view name(DropReason reason) { return kReasonNames[static_cast<std::size_t>(reason)]; }

DropReason parse_packet(ByteSpan datagram, Packet& packet) {
  if (datagram.size() < kHeaderBytes) return DropReason::too_short;
  if (!known_form(datagram.data())) return DropReason::foreign;
  const PacketHeader header = header_of(datagram.data());
  if (header.agents == 0 || header.agents > kAgentsMax || header.agent >= header.agents) {
    return DropReason::wrong_agent;
  }
  if (!good_count(header)) return DropReason::wrong_count;
  const std::size_t expected = whole_bytes(header);
  if (datagram.size() < expected) return DropReason::too_short;
  if (datagram.size() > expected) return DropReason::too_long;
  packet.header = header;
  packet.body = datagram.subspan(kHeaderBytes);
  packet.contributors = 0;
  if (header.type == PacketType::result) {
    packet.contributors = field_at<std::uint64_t>(packet.body.data(), 0);
    packet.body = packet.body.subspan(kContributorsBytes);
    // Bits of agents that the job does not have.
    if (header.agents < 64 && packet.contributors >> header.agents != 0) {
      return DropReason::wrong_agent;
    }
  }
  return DropReason::none;
}

Status packet_fault(DropReason reason, ByteSpan datagram) {
  Fault fault = {.what = "a packet of sums in the network"};
  const bool whole = datagram.size() >= kHeaderBytes;
  const PacketHeader header = whole ? header_of(datagram.data()) : PacketHeader();
  switch (reason) {
    case DropReason::too_short:
    case DropReason::too_long:
      fault.expected =
          whole ? fmt::format("{} bytes for {} values", whole_bytes(header), header.count)
                : fmt::format("a header of {} bytes", kHeaderBytes);
      fault.got = fmt::format("{} bytes", datagram.size());
      break;
    case DropReason::foreign:
      fault.expected =
          fmt::format("magic {:#x}, version {}, a type of 1 to 3, known flags", kMagic, kVersion);
      if (whole) {
        fault.got = fmt::format("magic {:#x}, version {}, type {}, flags {:#x}, reason {}",
                                field_at<std::uint16_t>(datagram.data(), 0), datagram[kVersionAt],
                                datagram[kTypeAt], datagram[kFlagsAt], datagram[kReasonAt]);
      }
      break;
    case DropReason::wrong_count:
      fault.expected =
          fmt::format("a multiple of {} values, {} at most", kCountUnit, count_max(header.wide));
      fault.got = fmt::format("{}", header.count);
      break;
    case DropReason::wrong_agent:
      fault.expected = fmt::format("an agent below the number of agents, {} at most", kAgentsMax);
      fault.got = fmt::format("agent {} of {}", header.agent, header.agents);
      break;
    default:
      fault.expected = "what the job's plan says";
      fault.got = std::string(name(reason));
  }
  return Status(StatusCode::corrupt_data, std::move(fault));
}

void write_header(const PacketHeader& header, std::uint8_t* out) {
  put_field(kMagic, out, 0);
  out[kVersionAt] = kVersion;
  out[kTypeAt] = static_cast<std::uint8_t>(header.type);
  put_field(header.job, out, kJobAt);
  out[kAgentAt] = header.agent;
  out[kAgentsAt] = header.agents;
  put_field(header.epoch, out, kEpochAt);
  put_field(header.sequence, out, kSequenceAt);
  put_field(header.slot, out, kSlotAt);
  put_field(header.count, out, kCountAt);
  put_field(header.table, out, kTableAt);
  out[kFlagsAt] = header.wide ? kWideFlag : 0;
  out[kReasonAt] = static_cast<std::uint8_t>(header.reason);
}

void write_contributors(std::uint64_t contributors, std::uint8_t* out) {
  put_field(contributors, out, 0);
}

}  // namespace tributary::in_network
