// The filling of link probes and their echoes: pseudo-random bytes, which no link can compress.
//
// The content has no meaning and is not secret; its checksum is compared like that of any payload.
#pragma once

#include <cstdint>

#include "core/round/common/machine/actions.h"

namespace tributary {

// Limit for one message, in bytes; a train of probes has several. A larger request is refused.
constexpr std::uint32_t kProbePaddingMax = 128u << 10;
// Limit for the number of messages in a train. A larger number is refused.
constexpr std::uint32_t kProbePartsMax = 8;

// The first `bytes` bytes of one constant block, at most kProbePaddingMax. All callers share the
// block; nothing is copied. Thread-safe.
PayloadSlice probe_padding(std::uint32_t bytes);

}  // namespace tributary
