#include "core/link/transport.h"

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

}  // namespace

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
