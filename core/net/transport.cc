#include "core/net/transport.h"

#include <fmt/format.h>

#include <utility>

namespace tributary {
namespace {

Status not_within(std::string what, std::size_t min, std::size_t max, std::size_t got) {
  return Status(StatusCode::invalid_argument, {.what = std::move(what),
                                               .expected = fmt::format("{} to {} bytes", min, max),
                                               .got = fmt::format("{}", got),
                                               .remedy = "send it in parts"});
}

// CURVE's name of the command, nonce, authenticator and flags (RFC 26, "MESSAGE").
constexpr std::size_t kCurveBytes = 8 + 8 + 16 + 1;
// ZMTP's flags, and a length of one byte or of eight (RFC 23).
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

Status no_connection() {
  return Status(StatusCode::unavailable, {.what = "the connection",
                                          .expected = "it to be there",
                                          .got = "none",
                                          .remedy = "wait until it is made again"});
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
