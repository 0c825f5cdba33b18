#include "core/plan/planner.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/plan/corrections.h"

namespace tributary {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
// A round was quicker than what all have in common: its exchange took some time all the same.
constexpr double kExchangeMin_s = 1e-4;

}  // namespace

Planner::Planner(PlannerConfig config) : config_(std::move(config)) {}

void Planner::round_over(const RoundFacts& facts) {
  std::vector<RoundFacts::Agent> agents(
      facts.agents.begin(), facts.agents.begin() + static_cast<std::ptrdiff_t>(
                                                       std::min(facts.agents.size(), kAgentsMax)));
  for (RoundFacts::Agent& agent : agents) {
    const auto known = std::ranges::find(agents_, agent.id, &RoundFacts::Agent::id);
    if (known == agents_.end() || !known->gain.known()) continue;
    if (agent.gain.known()) smooth(known->gain, agent.gain, kGainShare);
    agent.gain = known->gain;
  }
  agents_ = std::move(agents);
  if (!in_force_ || facts.codec != in_force_->choice.codec ||
      facts.collective != in_force_->choice.collective) {
    return;
  }
  ++in_force_->rounds;
  learn_from(facts);
}

// What all rounds have in common is told from what one choice takes by its being in the quick ones
// as well.
void Planner::learn_from(const RoundFacts& facts) {
  const auto codec = std::ranges::find_if(config_.codecs, [&](const PlanCodec& one) {
    const PlanChoice& choice = in_force_->choice;
    return make_choice(one, choice.collective, choice.ratio, choice.bucket_values) == choice;
  });
  if (codec == config_.codecs.end() || facts.exchange_s <= 0) return;
  if (config_.settled) {
    beside_s_.push_back(facts.exchange_s - predicted_.cost.exchange_s);
    if (beside_s_.size() > kOverheadRounds) beside_s_.pop_front();
  }
  const double measured_s = facts.exchange_s - overhead_s();
  learn(corrections_, *codec, predicted_, std::max(measured_s, kExchangeMin_s));
}

double Planner::overhead_s() const {
  if (beside_s_.size() < kOverheadRoundsMin) return 0;
  std::vector<double> all(beside_s_.begin(), beside_s_.end());
  const auto quarter = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 4);
  std::ranges::nth_element(all, quarter);
  return std::max(*quarter, 0.0);
}

PlanInputs Planner::inputs(const PlanLines& lines, const PlanPolicy& policy) const {
  PlanInputs inputs = {.values = config_.values,
                       .hub_beta_s_per_byte = lines.hub_beta_s_per_byte,
                       .peer_alpha_s = lines.peer_alpha_s,
                       .peer_beta_s_per_byte = lines.peer_beta_s_per_byte,
                       .peers_reachable = lines.peers_reachable,
                       .message_s = config_.message_s,
                       .settled = config_.settled,
                       .overhead_s = overhead_s(),
                       .cores = config_.cores,
                       .codecs = config_.codecs,
                       .agreement = config_.agreement,
                       .own_ratios = config_.own_ratios,
                       .corrections = corrections_,
                       .policy = policy,
                       .before = in_force_};
  for (const RoundFacts::Agent& agent : agents_) {
    const auto line = lines.agents.find(agent.id);
    PlanAgent one = {.alpha_s = kUnknown,
                     .beta_s_per_byte = kUnknown,
                     .weight = agent.weight,
                     .compute_s = agent.compute_s,
                     .gain = agent.gain};
    if (line != lines.agents.end()) {
      one.alpha_s = line->second.alpha_s;
      one.beta_s_per_byte = line->second.beta_s_per_byte;
      one.down_beta_s_per_byte = line->second.down_beta_s_per_byte;
    }
    inputs.agents.push_back(std::move(one));
  }
  return inputs;
}

Result<std::optional<Planned>> Planner::think(const PlanLines& lines, const PlanPolicy& policy) {
  if (agents_.empty()) return std::optional<Planned>();
  Planned planned;
  planned.inputs = inputs(lines, policy);
  TRIBUTARY_ASSIGN(planned.decision, decide(planned.inputs));
  if (planned.decision.trigger == PlanTrigger::none) return std::optional<Planned>();
  in_force_ = in_force(planned.decision.chosen, planned.inputs, PlanPredictor(planned.inputs));
  predicted_ = planned.decision.chosen;
  predicted_.cost.exchange_s -= planned.inputs.overhead_s;
  return std::optional<Planned>(std::move(planned));
}

}  // namespace tributary
