// Sends the payloads of a round as streams of the session: as Preliminary or Update messages, or as
// Aggregate messages after an exchange among peers.
//
// The functions keep nothing. They belong to one event of the machine: the context holds references
// to the session and to the actions of that event.
#pragma once

#include <cstdint>

#include "core/round/agent/round/outgoing.h"
#include "core/round/common/plan/round_plan.h"

namespace tributary {

// The objects that an upload uses. All of them must outlive the returned functions.
struct UploadContext {
  TimeNs now = 0;
  Conversation& session;
  const RoundPlan& plan;
  std::uint32_t member = 0;         // index of the agent in the epoch
  double weight = 1;                // the weight in the agent's plan
  std::uint64_t trained_round = 0;  // of the newest update in the payloads
  Actions& out;
  std::uint64_t& bytes_up;  // increased by the bytes of each stream that is started
};

// The operations for Outgoing. They are valid only while the context is.
Outgoing::Session upload_session(const UploadContext& context);

// Stops sending the payload for the attempt that it names.
void drop_upload(const Outgoing::Payload& payload, Conversation& session);

// Limits the session's window to `parts` parts of the plan's size; 0: unchanged.
void limit_upload(const RoundPlan& plan, std::uint32_t parts, Conversation& session);

}  // namespace tributary
