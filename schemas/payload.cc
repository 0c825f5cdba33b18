#include "schemas/payload.h"

#include <fmt/format.h>

#include "core/base/bytes/checksum.h"
#include "schemas/kinds.h"
#include "schemas/walk.h"

namespace tributary {
namespace {

template <typename Message>
PayloadClaim read_claim(const Message& message) {
  if constexpr (requires { message.part()->payload_bytes(); }) {
    return {message.part()->payload_bytes(), message.part()->payload_checksum()};
  } else if constexpr (requires {
                         message.payload_bytes();
                         message.payload_checksum();
                       }) {
    return {message.payload_bytes(), message.payload_checksum()};
  } else {
    return {};
  }
}

}  // namespace

PayloadClaim claim_for(ByteSpan payload) {
  return {static_cast<std::uint32_t>(payload.size()), hash64(payload)};
}

Result<PayloadClaim> claim_of(const wire::Frame& frame) {
  const wire::Message kind = frame.message_type();
  if (!wire::rules_of(kind).has(wire::kHasPayload)) {
    return Status(StatusCode::corrupt_data,
                  {.what = fmt::format("message part behind a {}", wire::name(kind)),
                   .expected = "none",
                   .got = "one",
                   .remedy = "refuse both"});
  }
  return wire::visit_message(frame, [](const auto& message) { return read_claim(message); });
}

Status check_payload(const wire::Frame& frame, ByteSpan payload) {
  TRIBUTARY_ASSIGN(const PayloadClaim claim, claim_of(frame));
  const std::string_view kind = wire::name(frame.message_type());
  if (payload.size() != claim.bytes) {
    return Status(StatusCode::corrupt_data, {.what = fmt::format("payload of a {}", kind),
                                             .expected = fmt::format("{} bytes", claim.bytes),
                                             .got = fmt::format("{}", payload.size()),
                                             .remedy = "ask for it again"});
  }
  if (const std::uint64_t checksum = hash64(payload); checksum != claim.checksum) {
    return Status(StatusCode::corrupt_data,
                  {.what = fmt::format("payload of a {}", kind),
                   .expected = fmt::format("checksum {:016x}", claim.checksum),
                   .got = fmt::format("{:016x}", checksum),
                   .remedy = "ask for it again"});
  }
  return {};
}

}  // namespace tributary
