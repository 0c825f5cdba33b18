#include "core/round/coordinator/context/plan_message.h"

#include <utility>

namespace tributary {

void send_plan(CoordinatorContext& context, AgentSession& session,
               const std::shared_ptr<const RoundPlan>& plan, std::optional<PlanReceiver> receiver) {
  session.plan_sent = plan->key();
  session.conversation.ask(
      context.now,
      [plan, receiver] {
        wire::PlanT wire = plan->wire();
        wire.weight = receiver ? receiver->weight : 0;
        for (const auto& exchange : wire.exchanges) {
          if (receiver && !exchange->ratios.empty()) {
            exchange->ratio = exchange->ratios[receiver->member];
          }
          // A member receives only its own ratio, in a field of its own.
          exchange->ratios.clear();
        }
        wire.reason->inputs.clear();
        wire.reason->alternatives.clear();
        return frame_with(std::move(wire));
      },
      context.out, plan->key().round);
}

}  // namespace tributary
