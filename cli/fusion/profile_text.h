// Reads a fusion profile from JSON:
//
//   {"backward_s": [...], "bytes": [...],
//    "compress": {"alpha_s": A, "beta_s_per_byte": B},
//    "network": {"alpha_s": A, "beta_s_per_byte": B, "ratio": R},
//    "decode": {"alpha_s": A, "beta_s_per_byte": B, "agents": N}}
//
// `ratio` is the share of the bytes that is sent (default 1). `agents` is the number of payloads
// decoded per group (default 1). `decode` is optional. docs/fusion.md explains the numbers.
#pragma once

#include <cstdint>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/plan/fusion/fusion_profile.h"

namespace tributary {

inline constexpr std::uint64_t kFusionTextBytesMax = 1u << 20;

// Returns a profile that check_fusion_profile() accepts. Fails with resource_exhausted beyond
// kFusionTextBytesMax, corrupt_data for invalid JSON, and invalid_argument otherwise, also for
// unknown and duplicate keys. The error names the place. The input is not trusted.
Result<FusionProfile> parse_fusion_profile(ByteSpan text);

}  // namespace tributary
