#include "dashboard/session/decision_belief.h"

#include <algorithm>
#include <string_view>

#include "core/plan/inputs_text.h"

namespace tributary::dashboard {
namespace {

// The plan states the number of buckets, and not their planned size.
PlanChoice choice_of(const PlanAlternative& chosen, const RoundDetail& detail,
                     const PlanInputs& inputs) {
  PlanChoice choice = {.codec = chosen.codec, .ratio = chosen.ratio};
  for (const wire::Collective collective : kCollectives) {
    if (chosen.collective == wire::EnumNameCollective(collective)) choice.collective = collective;
  }
  const std::uint64_t exchanges = std::max<std::uint64_t>(detail.exchanges_per_round, 1);
  const std::uint64_t buckets = std::max<std::uint64_t>(detail.buckets / exchanges, 1);
  choice.bucket_values = inputs.values / buckets + (inputs.values % buckets > 0 ? 1 : 0);
  return choice;
}

Status fill_belief(const RoundDetail& detail, const PlanAlternative& chosen,
                   DecisionBelief& belief) {
  const std::string_view text(reinterpret_cast<const char*>(detail.inputs.data()),
                              detail.inputs.size());
  TRIBUTARY_ASSIGN(const PlanInputs inputs, parse_plan_inputs(text));
  TRIBUTARY_ASSIGN(PlanExplanation explanation, explain(inputs, choice_of(chosen, detail, inputs)));
  belief.links = grouped_links(std::move(explanation.links), kBeliefLinksMax);
  belief.expected_s = explanation.candidates.front().round_s;
  if (!inputs.before) return {};
  TRIBUTARY_ASSIGN(belief.before, hindsight(inputs, inputs.before->choice, explanation.candidates));
  return {};
}

}  // namespace

std::shared_ptr<const DecisionBelief> belief_of(const RoundDetail& detail) {
  const auto chosen = std::ranges::find_if(detail.alternatives, &PlanAlternative::chosen);
  if (detail.inputs.empty() || chosen == detail.alternatives.end()) return nullptr;
  auto belief = std::make_shared<DecisionBelief>();
  belief->job = detail.job;
  belief->round = detail.round;
  const Status filled = fill_belief(detail, *chosen, *belief);
  if (!filled.ok()) belief->why_not = filled.text();
  return belief;
}

}  // namespace tributary::dashboard
