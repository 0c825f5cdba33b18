#include "core/net/transport.h"

#include <fmt/format.h>

#include <numeric>
#include <utility>

namespace tributary {
namespace {

Status not_within(std::string what, std::size_t min, std::size_t max, std::size_t got) {
  return Status(StatusCode::invalid_argument, {.what = std::move(what),
                                               .expected = fmt::format("{} to {} bytes", min, max),
                                               .got = fmt::format("{}", got),
                                               .remedy = "send it in parts"});
}

// CURVE's overhead per part: name of the command, nonce, authenticator and flags (RFC 26,
// "MESSAGE").
constexpr std::size_t kCurveBytes = 8 + 8 + 16 + 1;
// ZMTP's overhead per part: flags, and a size of one byte or of eight (RFC 23).
constexpr std::size_t kShortPartBytesMax = 255;
constexpr std::size_t kShortHeaderBytes = 2;
constexpr std::size_t kLongHeaderBytes = 9;

std::size_t part_bytes(std::size_t bytes, bool encrypted) {
  const std::size_t sealed = bytes + (encrypted ? kCurveBytes : 0);
  return sealed + (sealed <= kShortPartBytesMax ? kShortHeaderBytes : kLongHeaderBytes);
}

}  // namespace

std::size_t wire_bytes(std::size_t frame_bytes, std::size_t payload_bytes, bool encrypted) {
  const std::size_t frame = part_bytes(frame_bytes, encrypted);
  return payload_bytes == 0 ? frame : frame + part_bytes(payload_bytes, encrypted);
}

Status check_caps(const LinkLimits& limits, std::size_t frame_bytes, std::size_t payload_bytes) {
  if (frame_bytes == 0 || frame_bytes > limits.frame_bytes_max) {
    return not_within("frame", 1, limits.frame_bytes_max, frame_bytes);
  }
  if (payload_bytes > limits.payload_bytes_max) {
    return not_within("payload part", 0, limits.payload_bytes_max, payload_bytes);
  }
  return {};
}

Status check_send(const Transport& transport, ConnectionId to, std::size_t frame_bytes,
                  std::size_t payload_bytes) {
  const FixedMembers members = transport.members();
  if (members.count > 0 && (to >= members.count || to == members.own_rank)) {
    return Status(StatusCode::invalid_argument,
                  {.what = "receiver",
                   .expected = fmt::format("the number of another member, below {}", members.count),
                   .got = fmt::format("{}", to)});
  }
  return check_caps(transport.limits(), frame_bytes, payload_bytes);
}

// The remedy is to wait for an event: only the transport's thread empties the queue.
Status check_queue_bound(const QueueLevel& level, std::size_t bytes) {
  if (level.waiting_bytes + bytes <= level.bytes_max) return {};
  return Status(StatusCode::resource_exhausted,
                {.what = std::string(level.queue),
                 .expected = fmt::format("at most {} bytes", level.bytes_max),
                 .got = fmt::format("{} in addition to {}", bytes, level.waiting_bytes),
                 .remedy = "try again after the next event"});
}

Status member_lost(ConnectionId member) {
  return Status(
      StatusCode::unavailable,
      {.what = fmt::format("member {}", member), .expected = "a connection", .got = "a lost one"});
}

Status no_connection() {
  return Status(StatusCode::unavailable, {.what = "the connection",
                                          .expected = "an open connection",
                                          .got = "none",
                                          .remedy = "wait until it is connected again"});
}

std::uint64_t LinkCounters::refused_in_all() const {
  return std::accumulate(refused.begin(), refused.end(), std::uint64_t{0});
}

LinkCounters operator-(const LinkCounters& now, const LinkCounters& before) {
  LinkCounters since = now;
  since.messages_in -= before.messages_in;
  since.messages_out -= before.messages_out;
  since.bytes_in -= before.bytes_in;
  since.bytes_out -= before.bytes_out;
  since.wire_bytes_in -= before.wire_bytes_in;
  since.wire_bytes_out -= before.wire_bytes_out;
  since.connections -= before.connections;
  since.sends_refused -= before.sends_refused;
  for (std::size_t i = 0; i < kRefusalReasons; ++i) since.refused[i] -= before.refused[i];
  return since;
}

std::string_view name(RefusalReason reason) {
  switch (reason) {
    case RefusalReason::unknown_key:
      return "unknown_key";
    case RefusalReason::too_many_knocks:
      return "too_many_knocks";
    case RefusalReason::failed_handshake:
      return "failed_handshake";
    case RefusalReason::not_identified:
      return "not_identified";
    case RefusalReason::revoked:
      return "revoked";
    case RefusalReason::claimed_route:
      return "claimed_route";
    case RefusalReason::bad_parts:
      return "bad_parts";
    case RefusalReason::frame_too_large:
      return "frame_too_large";
    case RefusalReason::payload_too_large:
      return "payload_too_large";
  }
  return "unknown";
}

}  // namespace tributary
