// How an agent's payloads of a round go into its session: as streams of Preliminary, Update or,
// where peers have exchanged, Aggregate messages.
#pragma once

#include <cstdint>

#include "core/round/agent/round/outgoing.h"
#include "core/round/common/plan/round_plan.h"

namespace tributary {

// What an upload is handed to work with; all of it outlives the calls.
struct UploadContext {
  TimeNs now = 0;
  Conversation& session;
  const RoundPlan& plan;
  std::uint32_t member = 0;  // of the agent in the epoch
  double weight = 1;         // in its plan
  Actions& out;
  std::uint64_t& bytes_up;  // grows by what is begun to be sent
};

Outgoing::Session upload_session(const UploadContext& context);

// The coordinator has room for so many parts of the plan's size at once; 0: as it was.
void limit_upload(const RoundPlan& plan, std::uint32_t parts, Conversation& session);

}  // namespace tributary
