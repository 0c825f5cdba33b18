// Sends an agent the combined payload of one stage of a bucket, in parts, within the send window of
// its session.
//
// It cannot fail: a session that is lost meanwhile drops the stream, and the agent asks for the
// rest in its next session.
#pragma once

#include <cstdint>

#include "core/round/coordinator/context/coordinator_context.h"

namespace tributary {

// The combined payload of one stage, and its address.
struct StageAggregate {
  RoundKey key;
  std::uint32_t bucket = 0;
  std::uint32_t stage = 0;
  std::uint32_t contributors = 0;
  SharedBytes payload;
};

// Sends the payload from byte `from` on. Returns the number of bytes to send. The payload is shared
// until it is acknowledged.
std::uint64_t stream_aggregate(CoordinatorContext& context, AgentSession& session,
                               const StageAggregate& aggregate, std::uint64_t from);

}  // namespace tributary
