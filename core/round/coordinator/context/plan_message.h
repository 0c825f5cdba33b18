// Sends an agent the plan of a round.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/round/common/plan/round_plan.h"
#include "core/round/coordinator/context/coordinator_context.h"

namespace tributary {

// What a plan says to one member alone.
struct PlanReceiver {
  std::uint32_t member = 0;  // of the epoch
  double weight = 0;
};

// Without a receiver the agent does not take part: it only follows the round. The inputs of the
// choice and its alternatives stay in the journal.
void send_plan(CoordinatorContext& context, AgentSession& session,
               const std::shared_ptr<const RoundPlan>& plan, std::optional<PlanReceiver> receiver);

}  // namespace tributary
