// What fusion is planned from: how long the backward pass spends on each tensor, how large the
// tensors are, and what it costs to compress, to send and to decode a group of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/status.h"

namespace tributary {

// A group of some bytes takes alpha + beta * bytes.
struct StageCost {
  double alpha_s = 0;
  double beta_s_per_byte = 0;
};

// Bytes are those of the tensors everywhere: what compression leaves of them is part of the betas.
struct FusionProfile {
  // One entry per tensor, in the order in which gradients become ready.
  std::vector<double> backward_s;
  std::vector<double> bytes;

  StageCost compress;
  StageCost network;
  StageCost decode;  // of one agent's payload
  // Payloads that are decoded for every group: all agents' where payloads are gathered, and one
  // where they are summed on their way.
  std::uint32_t decode_agents = 1;
};

// Planning takes time that grows with the square of the number of tensors (docs/fusion.md).
inline constexpr std::size_t kFusionTensorsMax = 4096;
// Beyond these a figure has the wrong unit; within them no sum overflows.
inline constexpr double kFusionSecondsMax = 1e6;
inline constexpr double kFusionBytesMax = 1e15;
inline constexpr double kFusionSecondsPerByteMax = 1;
inline constexpr std::uint32_t kFusionAgentsMax = 1'000'000;

// An error that names the number that cannot be.
Status check_fusion_profile(const FusionProfile& profile);

}  // namespace tributary
