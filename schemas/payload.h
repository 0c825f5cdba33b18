// Payloads: the bulk data that follows a frame as the next message part, so that it needs no copy.
// The frame states the payload's length and checksum. All functions are pure.
#pragma once

#include <cstdint>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "schemas/frame_generated.h"

namespace tributary {

// The length and the XXH3 checksum that a frame states for its payload.
struct PayloadClaim {
  std::uint32_t bytes = 0;
  std::uint64_t checksum = 0;
};

// Returns the length and checksum that a frame must state for this payload. The payload should be
// within wire::kPayloadBytesMax, which build_frame() checks.
PayloadClaim claim_for(ByteSpan payload);

// Returns the length and checksum that an opened frame states. Returns an error if its kind has no
// payload.
Result<PayloadClaim> claim_of(const wire::Frame& frame);

// Returns corrupt_data if the payload does not have the length and checksum that the opened frame
// states.
Status check_payload(const wire::Frame& frame, ByteSpan payload);

}  // namespace tributary
