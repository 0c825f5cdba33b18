#include "core/plan/planner.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/plan/corrections.h"
#include "core/plan/inputs/learned_factor.h"

namespace tributary {
namespace {

// Least duration of an exchange after the overhead is subtracted, for a round faster than the
// overhead.
constexpr double kExchangeMin_s = 1e-4;
// A rate with a greater relative standard error is only roughly known. It replaces the last known
// rate if the two are at least kErrorsBetweenRates standard errors apart.
constexpr double kRough = 0.16;
constexpr double kErrorsBetweenRates = 4;
// Relative change of a rate after which a link counts as measured again.
constexpr double kMeasuredAnew = 0.2;
constexpr std::uint64_t kYoungRounds = 5;  // rounds for which a choice's own evidence dominates
constexpr double kSizeShare = 0.3;  // share by which a size factor moves to that of the last round
constexpr double kSizeMax = 64;     // bound on measured over expected size, and its inverse

// Whether the current rate replaces `used`, the rate that the plan uses. A rough rate must differ
// from it clearly, also if that one is only assumed.
bool is_news(double now, double error, double used) {
  if (std::isnan(now)) return false;
  return error <= kRough || std::abs(now - used) > kErrorsBetweenRates * error * now;
}

// Scales the time per byte of all links by `factor`. An unmeasured link is scaled from its assumed
// rate. An unknown downlink takes the uplink's rate, and an unknown link between peers the agents'
// own.
void slow_down(PlanInputs& inputs, double factor) {
  if (factor <= 1) return;
  inputs.peer_beta_s_per_byte *= factor;
  for (PlanAgent& agent : inputs.agents) {
    agent.beta_s_per_byte = factor * link_of(agent).up;
    agent.down_beta_s_per_byte *= factor;
  }
}

// Whether the known rate of any agent differs from its previous one by more than noise.
bool measured_anew(const PlanLinks& now, const PlanLinks& before) {
  return std::ranges::any_of(now.agents, [&](const auto& link) {
    const double beta = link.second.beta_s_per_byte;
    if (std::isnan(beta)) return false;
    const auto last = before.agents.find(link.first);
    if (last == before.agents.end() || std::isnan(last->second.beta_s_per_byte)) return true;
    return std::abs(std::log(beta / last->second.beta_s_per_byte)) > kMeasuredAnew;
  });
}

// Marker in PlanTried::curve_gain for a codec tried in the current round; the value is set once the
// inputs of the round are complete.
constexpr double kTriedJustNow = -1;

}  // namespace

Planner::Planner(PlannerConfig config) : config_(std::move(config)) {}

void Planner::resume(const Planned& planned) {
  corrections_ = planned.inputs.corrections;
  corrections_before_ = corrections_;
  in_force_ = in_force(planned.decision, planned.inputs, PlanPredictor(planned.inputs));
  tried_ = planned.inputs.tried;
  for (const PlanAgent& agent : planned.inputs.agents) tried_gains_[agent.name] = agent.tried;
  rounds_unasked_ = planned.inputs.rounds_unasked;
  asked_in_vain_ = planned.inputs.asked_in_vain;
  asked(planned.decision);
}

void Planner::asked(const PlanDecision& decision) {
  if (decision.trials.empty()) return;
  rounds_unasked_ = 0;
  ++asked_in_vain_;  // take_trials() resets it when an agent answers
}

void Planner::take_trials(const RoundFacts& facts) {
  ++rounds_unasked_;
  for (PlanTried& tried : tried_) ++tried.rounds;
  if (tried_gains_.size() >= kAgentsMax) tried_gains_.clear();
  const auto learn_gain = [&](const RoundFacts::Agent& agent, const PlanCodec& codec,
                              const std::map<std::string, double>& gains) {
    const auto fresh = gains.find(codec.spec);
    if (fresh == gains.end()) return false;
    const auto [known, first] = tried_gains_[agent.id].try_emplace(codec.spec, fresh->second);
    if (!first) known->second += kTrialShare * (fresh->second - known->second);
    std::erase_if(tried_, [&](const PlanTried& tried) { return tried.spec == codec.spec; });
    tried_.push_back({.spec = codec.spec, .rounds = 0, .curve_gain = kTriedJustNow});
    return true;
  };
  for (const RoundFacts::Agent& agent : facts.agents) {
    for (const PlanCodec& codec : config_.codecs) {
      // A gain that comes with every round counts as a trial that is never due again.
      learn_gain(agent, codec, agent.known_gains);
      const auto bytes = agent.tried_bytes.find(codec.spec);
      if (bytes != agent.tried_bytes.end()) learn_size(codec, bytes->second);
      if (learn_gain(agent, codec, agent.tried)) asked_in_vain_ = 0;
    }
  }
}

void Planner::round_over(const RoundFacts& facts) {
  exchange_s_ = 0;
  take_trials(facts);
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
  exchange_s_ = facts.exchange_s;
  if (in_force_->choice != carried_out_) slowdown_.choice_changes();
  carried_out_ = in_force_->choice;
  const auto codec = std::ranges::find(config_.codecs, facts.codec, &PlanCodec::spec);
  if (codec == config_.codecs.end()) return;
  learn_size(*codec, facts.bytes_up / static_cast<double>(config_.values));
}

// The payload size of a codec without a ratio depends on the values and, with GComp, on the
// optimizer's state. The measurement used synthetic values without such a state, so the size is
// corrected from real updates.
void Planner::learn_size(const PlanCodec& codec, double bytes_per_value) {
  if (codec.family != PlanFamily::fixed) return;
  double per_value = 0;
  for (const PlanStage& stage : codec.stages) per_value += stage.up_bytes_per_value;
  const double ratio = bytes_per_value / per_value;
  if (!std::isfinite(ratio) || ratio <= 0) return;
  const double factor = std::clamp(ratio, 1 / kSizeMax, kSizeMax);
  const auto [known, first] = sizes_.try_emplace(codec.spec, factor);
  if (!first) known->second += kSizeShare * (factor - known->second);
}

// The measured time is compared with a prediction from the current links, so that a link that
// changed since the decision is not attributed to the codec. Overhead of all rounds is
// distinguished from the cost of one choice in that it also occurs in the fast rounds.
void Planner::learn_from_last_round() {
  const double measured_s = std::exchange(exchange_s_, 0);
  if (!in_force_ || !(measured_s > 0)) return;
  PlanInputs known = inputs_as_measured({});
  known.overhead_s = 0;
  if (!check(known).ok()) return;
  const PlanChoice& choice = in_force_->choice;
  const PlanCodec* const codec = find_codec(known, choice);
  if (!codec || !PlanPredictor(known).possible(choice.collective)) return;
  const auto predicted = [&](double slowdown) {
    PlanInputs slowed = known;
    slow_down(slowed, slowdown);
    return PlanPredictor(slowed).cost(*find_codec(slowed, choice), choice.collective, choice.ratio,
                                      choice.bucket_values);
  };
  const double exchange_s = std::max(measured_s - overhead_s(), kExchangeMin_s);
  if (slowdown_.explains(exchange_s,
                         [&](double slowdown) { return predicted(slowdown).exchange_s; })) {
    return;
  }
  const PlanOption option = {.choice = choice, .cost = predicted(slowdown_.factor())};
  if (config_.settled) {
    beside_s_.push_back(measured_s - option.cost.exchange_s);
    if (beside_s_.size() > kOverheadRounds) beside_s_.pop_front();
  }
  fade(corrections_, correction_key(choice.collective, *codec));
  // The factor of the first choice also contains the overhead, until the overhead is known.
  const bool first =
      corrections_.empty() || (corrections_.size() == 1 &&
                               corrections_.contains(correction_key(choice.collective, *codec)));
  learn(corrections_, *codec, option, exchange_s, !first && in_force_->rounds <= kYoungRounds);
}

double Planner::overhead_s() const {
  if (beside_s_.size() < kOverheadRoundsMin) return 0;
  std::vector<double> all(beside_s_.begin(), beside_s_.end());
  const auto quarter = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 4);
  std::ranges::nth_element(all, quarter);
  return std::max(*quarter, 0.0);
}

void Planner::take(const PlanLinks& links) {
  const PlanLinks before = std::exchange(links_, links);
  const auto keep = [](double& now, double last) {
    if (std::isnan(now)) now = last;
  };
  keep(links_.peer_alpha_s, before.peer_alpha_s);
  keep(links_.peer_beta_s_per_byte, before.peer_beta_s_per_byte);
  const auto keep_rate = [](double& now, double error, double last, double used) {
    if (!is_news(now, error, used)) now = last;
  };
  constexpr PlanLinks::Agent kNeverSeen = {
      .alpha_s = kUnknown, .beta_s_per_byte = kUnknown, .down_beta_s_per_byte = kUnknown};
  for (const RoundFacts::Agent& agent : agents_) {
    const auto seen = before.agents.find(agent.id);
    const PlanLinks::Agent& last = seen == before.agents.end() ? kNeverSeen : seen->second;
    const auto [link, gone] = links_.agents.try_emplace(agent.id, last);
    if (gone) continue;
    keep(link->second.alpha_s, last.alpha_s);
    const AgentLink used = link_of({.beta_s_per_byte = last.beta_s_per_byte,
                                    .down_beta_s_per_byte = last.down_beta_s_per_byte});
    keep_rate(link->second.beta_s_per_byte, link->second.beta_error, last.beta_s_per_byte, used.up);
    keep_rate(link->second.down_beta_s_per_byte, link->second.down_beta_error,
              last.down_beta_s_per_byte, used.down);
  }
  if (measured_anew(links_, before)) slowdown_.forget();
}

PlanInputs Planner::inputs(const PlanPolicy& policy) const {
  PlanInputs inputs = inputs_as_measured(policy);
  slow_down(inputs, slowdown_.factor());
  return inputs;
}

PlanInputs Planner::inputs_as_measured(const PlanPolicy& policy) const {
  PlanInputs inputs = {.values = config_.values,
                       .hub_beta_s_per_byte = links_.hub_beta_s_per_byte,
                       .peer_alpha_s = links_.peer_alpha_s,
                       .peer_beta_s_per_byte = links_.peer_beta_s_per_byte,
                       .peers_reachable = links_.peers_reachable,
                       .message_s = config_.message_s,
                       .settled = config_.settled,
                       .overhead_s = overhead_s(),
                       .cores = config_.cores,
                       .agreement = config_.agreement,
                       .own_ratios = config_.own_ratios,
                       .corrections = corrections_,
                       .policy = policy,
                       .before = in_force_,
                       .tried = tried_,
                       .rounds_unasked = rounds_unasked_,
                       .asked_in_vain = asked_in_vain_};
  std::vector<DeviceSpeeds> devices;
  for (const RoundFacts::Agent& agent : agents_) devices.push_back(agent.speeds);
  inputs.codecs = on_slowest(config_.codecs, config_.measured_on, devices);
  for (PlanCodec& codec : inputs.codecs) {
    const auto size = sizes_.find(codec.spec);
    if (size == sizes_.end()) continue;
    for (PlanStage& stage : codec.stages) {
      stage.up_bytes_per_value *= size->second;
      stage.down_bytes_per_value *= size->second;
    }
  }
  for (const RoundFacts::Agent& agent : agents_) {
    const auto link = links_.agents.find(agent.id);
    PlanAgent planned = {.name = agent.id,
                         .alpha_s = kUnknown,
                         .beta_s_per_byte = kUnknown,
                         .weight = agent.weight,
                         .compute_s = agent.compute_s,
                         .gain = agent.gain};
    if (link != links_.agents.end()) {
      planned.alpha_s = link->second.alpha_s;
      planned.beta_s_per_byte = link->second.beta_s_per_byte;
      planned.down_beta_s_per_byte = link->second.down_beta_s_per_byte;
    }
    const auto tried = tried_gains_.find(agent.id);
    if (tried != tried_gains_.end()) planned.tried = tried->second;
    inputs.agents.push_back(std::move(planned));
  }
  const double curve_gain = tried_.empty() ? 0 : PlanPredictor(inputs).curve_gain();
  for (PlanTried& tried : inputs.tried) {
    if (tried.curve_gain == kTriedJustNow) tried.curve_gain = curve_gain;
  }
  return inputs;
}

Result<std::optional<Planned>> Planner::think(const PlanLinks& links, const PlanPolicy& policy) {
  if (agents_.empty()) return std::optional<Planned>();
  Planned planned;
  take(links);
  learn_from_last_round();
  planned.inputs = inputs(policy);
  TRIBUTARY_TRY(check(planned.inputs));
  tried_ = planned.inputs.tried;
  const PlanPredictor before(planned.inputs);
  if (trigger_of(planned.inputs, before) == wire::Trigger::link_changed &&
      links_changed(planned.inputs, before)) {
    planned.inputs.corrections = corrections_ = corrections_before_;
  }
  TRIBUTARY_ASSIGN(planned.decision, decide(planned.inputs));
  if (planned.decision.trigger == wire::Trigger::unchanged) return std::optional<Planned>();
  const PlanPredictor predictor(planned.inputs);
  in_force_ = in_force(planned.decision, planned.inputs, predictor);
  asked(planned.decision);
  // With an assumed link, the learned factor cannot be separated from the link's own error.
  if (planned.decision.trigger != wire::Trigger::exploration && !predictor.assumed()) {
    corrections_before_ = corrections_;
  }
  return std::optional<Planned>(std::move(planned));
}

}  // namespace tributary
