// What fills probes and their echoes up. No line on the way can make it shorter.
#pragma once

#include <cstdint>

#include "core/round/common/machine/actions.h"

namespace tributary {

// Of one message; a train is several. What asks for more is refused.
constexpr std::uint32_t kProbePaddingMax = 128u << 10;
// The parts of a train. What claims more is refused.
constexpr std::uint32_t kProbePartsMax = 8;

// The same bytes for everybody, never copied; at most kProbePaddingMax.
PayloadSlice probe_padding(std::uint32_t bytes);

}  // namespace tributary
