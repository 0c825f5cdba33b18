#include "core/plan/planner.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/plan/corrections.h"

namespace tributary {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

}  // namespace

Planner::Planner(PlannerConfig config) : config_(std::move(config)) {}

void Planner::resume(const Planned& planned) {
  corrections_ = planned.inputs.corrections;
  predicted_ = planned.decision.chosen;
  in_force_ = in_force(predicted_, planned.inputs, PlanPredictor(planned.inputs));
}

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
  const auto codec = std::ranges::find_if(config_.codecs, [&](const PlanCodec& one) {
    const PlanChoice& choice = in_force_->choice;
    return make_choice(one, choice.collective, choice.ratio, choice.bucket_values) == choice;
  });
  if (codec == config_.codecs.end() || facts.exchange_s <= 0) return;
  learn(corrections_, *codec, predicted_, facts.exchange_s);
}

PlanInputs Planner::inputs(const PlanLines& lines, const PlanPolicy& policy) const {
  PlanInputs inputs = {.values = config_.values,
                       .hub_beta_s_per_byte = lines.hub_beta_s_per_byte,
                       .peer_alpha_s = lines.peer_alpha_s,
                       .peer_beta_s_per_byte = lines.peer_beta_s_per_byte,
                       .peers_reachable = lines.peers_reachable,
                       .message_s = config_.message_s,
                       .cores = config_.cores,
                       .agreement = config_.agreement,
                       .own_ratios = config_.own_ratios,
                       .corrections = corrections_,
                       .policy = policy,
                       .before = in_force_};
  std::vector<DeviceSpeeds> devices;
  for (const RoundFacts::Agent& agent : agents_) devices.push_back(agent.speeds);
  inputs.codecs = on_slowest(config_.codecs, config_.measured_on, devices);
  for (const RoundFacts::Agent& agent : agents_) {
    const auto line = lines.agents.find(agent.id);
    PlanAgent one = {.name = agent.id,
                     .alpha_s = kUnknown,
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
  predicted_ = planned.decision.chosen;
  in_force_ = in_force(planned.decision, planned.inputs, PlanPredictor(planned.inputs));
  return std::optional<Planned>(std::move(planned));
}

}  // namespace tributary
