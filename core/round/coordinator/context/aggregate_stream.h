// Sends an agent the combined payload of a bucket's stage, in parts, as its session's window
// allows.
#pragma once

#include <cstdint>

#include "core/round/coordinator/context/coordinator_context.h"

namespace tributary {

struct StageAggregate {
  RoundKey key;
  std::uint32_t bucket = 0;
  std::uint32_t stage = 0;
  std::uint32_t contributors = 0;
  SharedBytes payload;
};

// From this byte on. Returns how many bytes that is.
std::uint64_t stream_aggregate(CoordinatorContext& context, AgentSession& session,
                               const StageAggregate& aggregate, std::uint64_t from);

}  // namespace tributary
