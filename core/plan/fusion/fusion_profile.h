// The inputs of fusion planning: for each tensor its backward time and size, and the costs to
// compress, send and decode a group.
//
// Plain values. The functions that plan require a profile that check_fusion_profile() has accepted;
// they do not check it again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/status.h"

namespace tributary {

// The cost of a stage for one group: alpha + beta * bytes.
struct StageCost {
  double alpha_s = 0;
  double beta_s_per_byte = 0;
};

// All byte counts are those of the uncompressed tensors. The betas include the effect of
// compression.
struct FusionProfile {
  // One entry per tensor, in the order in which the gradients become ready.
  std::vector<double> backward_s;
  std::vector<double> bytes;

  StageCost compress;
  StageCost network;
  StageCost decode;  // of one agent's payload
  // Number of payloads that each agent decodes per group: the number of agents if payloads are
  // gathered, 1 if they are summed during the exchange.
  std::uint32_t decode_agents = 1;
};

// Planning time grows with the square of the number of tensors (docs/fusion.md).
inline constexpr std::size_t kFusionTensorsMax = 4096;
// Bounds of valid inputs. A larger number probably has the wrong unit. Within the bounds no sum
// overflows.
inline constexpr double kFusionSecondsMax = 1e6;
inline constexpr double kFusionBytesMax = 1e15;
inline constexpr double kFusionSecondsPerByteMax = 1;
inline constexpr std::uint32_t kFusionAgentsMax = 1'000'000;

// Returns invalid_argument with the name of the first number that is out of bounds.
Status check_fusion_profile(const FusionProfile& profile);

}  // namespace tributary
