// Sends the plan of a round to an agent. The message is repeated until the agent answers; a refusal
// reaches JobRun::refused().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/round/common/plan/round_plan.h"
#include "core/round/coordinator/context/coordinator_context.h"

namespace tributary {

// The fields of a plan that differ for each member.
struct PlanReceiver {
  std::uint32_t member = 0;  // index in the epoch
  double weight = 0;
};

// Without a receiver the agent does not participate and only follows the round. The planner's
// inputs and alternatives are not sent; they stay in the journal. The plan is shared until it is
// acknowledged.
void send_plan(CoordinatorContext& context, AgentSession& session,
               const std::shared_ptr<const RoundPlan>& plan, std::optional<PlanReceiver> receiver);

}  // namespace tributary
