// A fusion profile as JSON:
//
//   {"backward_s": [...], "bytes": [...],
//    "compress": {"alpha_s": A, "beta_s_per_byte": B},
//    "network": {"alpha_s": A, "beta_s_per_byte": B, "ratio": R},
//    "decode": {"alpha_s": A, "beta_s_per_byte": B, "agents": N}}
//
// `ratio` is the share of the bytes that is left to send (1), `agents` says how many payloads are
// decoded for every group (1), and `decode` may be left out. docs/fusion.md explains the numbers.
#pragma once

#include <cstdint>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/plan/fusion/fusion_profile.h"

namespace tributary {

inline constexpr std::uint64_t kFusionTextBytesMax = 1u << 20;

// A profile that check_fusion_profile() accepts, or an error that names the place. Keys that are
// unknown or come twice are refused.
Result<FusionProfile> parse_fusion_profile(ByteSpan text);

}  // namespace tributary
