// Payloads: the bulk that follows a frame as the next message part, so that nobody has to copy it.
// The frame says how long it is and what its checksum is.
#pragma once

#include <cstdint>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "schemas/frame_generated.h"

namespace tributary {

struct PayloadClaim {
  std::uint32_t bytes = 0;
  std::uint64_t checksum = 0;
};

// What a frame is to say of this payload. The payload is within wire::kPayloadBytesMax, which
// building the frame checks.
PayloadClaim claim_for(ByteSpan payload);

// What an opened frame says of the payload behind it. An error if its kind has none.
Result<PayloadClaim> claim_of(const wire::Frame& frame);

// Whether the payload is what the opened frame says it is.
Status check_payload(const wire::Frame& frame, ByteSpan payload);

}  // namespace tributary
