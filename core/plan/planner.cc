#include "core/plan/planner.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/plan/corrections.h"
#include "core/plan/inputs/learned_factor.h"

namespace tributary {
namespace {

// A round was quicker than what all have in common: its exchange took some time all the same.
constexpr double kExchangeMin_s = 1e-4;
// With a greater standard error a rate is known roughly; and it is another one than it was if that
// lies so many standard errors away.
constexpr double kRough = 0.16;
constexpr double kErrorsApart = 4;
constexpr double kMeasuredAnew = 0.2;
constexpr std::uint64_t kYoungRounds = 5;  // of a choice: what they tell is most of what is known
constexpr double kSizeShare = 0.3;         // of the way to what the last round's payloads weighed
constexpr double kSizeMax = 64;            // times what was measured, and its inverse

// Whether a rate as it is known now is one to plan with, where `last` was.
bool is_news(double now, double error, double last) {
  if (std::isnan(now)) return false;
  if (error <= kRough) return true;
  const double assumed = line_of({.beta_s_per_byte = last}).up;
  return std::abs(now - assumed) > kErrorsApart * error * now;
}

// What nobody has measured is slower than it would be assumed to be. Ways down are as ways up, and
// lines of peers as agents' own, where they are not known.
void slow_down(PlanInputs& inputs, double factor) {
  if (factor <= 1) return;
  inputs.peer_beta_s_per_byte *= factor;
  for (PlanAgent& agent : inputs.agents) {
    agent.beta_s_per_byte = factor * line_of(agent).up;
    agent.down_beta_s_per_byte *= factor;
  }
}

// Whether any agent's rate is known, and another one than it was by more than noise.
bool measured_anew(const PlanLines& now, const PlanLines& before) {
  return std::ranges::any_of(now.agents, [&](const auto& line) {
    const double beta = line.second.beta_s_per_byte;
    if (std::isnan(beta)) return false;
    const auto last = before.agents.find(line.first);
    if (last == before.agents.end() || std::isnan(last->second.beta_s_per_byte)) return true;
    return std::abs(std::log(beta / last->second.beta_s_per_byte)) > kMeasuredAnew;
  });
}

// In place of PlanTried::curve_gain, until what is known of the round is put together.
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
  ++asked_in_vain_;  // until somebody answers
}

void Planner::take_trials(const RoundFacts& facts) {
  ++rounds_unasked_;
  for (PlanTried& tried : tried_) ++tried.rounds;
  if (tried_gains_.size() >= kAgentsMax) tried_gains_.clear();
  for (const RoundFacts::Agent& agent : facts.agents) {
    for (const PlanCodec& codec : config_.codecs) {
      const auto told = agent.tried.find(codec.spec);
      if (told == agent.tried.end()) continue;
      const auto [known, first] = tried_gains_[agent.id].try_emplace(codec.spec, told->second);
      if (!first) known->second += kTrialShare * (told->second - known->second);
      std::erase_if(tried_, [&](const PlanTried& tried) { return tried.spec == codec.spec; });
      tried_.push_back({.spec = codec.spec, .rounds = 0, .curve_gain = kTriedJustNow});
      asked_in_vain_ = 0;
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
  learn_size(facts);
}

// What the payloads of such a codec weigh depends on the values, which were made up when it was
// measured.
void Planner::learn_size(const RoundFacts& facts) {
  const auto codec = std::ranges::find(config_.codecs, facts.codec, &PlanCodec::spec);
  if (codec == config_.codecs.end() || codec->family != PlanFamily::fixed) return;
  double per_value = 0;
  for (const PlanStage& stage : codec->stages) per_value += stage.up_bytes_per_value;
  const double ratio = facts.bytes_up / (per_value * static_cast<double>(config_.values));
  if (!std::isfinite(ratio) || ratio <= 0) return;
  const double factor = std::clamp(ratio, 1 / kSizeMax, kSizeMax);
  const auto [known, first] = sizes_.try_emplace(codec->spec, factor);
  if (!first) known->second += kSizeShare * (factor - known->second);
}

// By what would be predicted now: a line that has become another one since the decision teaches
// nothing about a codec. What all rounds have in common is told from what one choice takes by its
// being in the quick ones as well.
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
  // The first of all choices also bears what all have in common, until that is known.
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

void Planner::take(const PlanLines& lines) {
  const PlanLines before = std::exchange(lines_, lines);
  const auto keep = [](double& now, double last) {
    if (std::isnan(now)) now = last;
  };
  keep(lines_.peer_alpha_s, before.peer_alpha_s);
  keep(lines_.peer_beta_s_per_byte, before.peer_beta_s_per_byte);
  const auto keep_rate = [](double& now, double error, double last) {
    if (!is_news(now, error, last)) now = last;
  };
  constexpr PlanLines::Agent kNeverSeen = {
      .alpha_s = kUnknown, .beta_s_per_byte = kUnknown, .down_beta_s_per_byte = kUnknown};
  for (const RoundFacts::Agent& agent : agents_) {
    const auto seen = before.agents.find(agent.id);
    const PlanLines::Agent& last = seen == before.agents.end() ? kNeverSeen : seen->second;
    const auto [line, gone] = lines_.agents.try_emplace(agent.id, last);
    if (gone) continue;
    keep(line->second.alpha_s, last.alpha_s);
    keep_rate(line->second.beta_s_per_byte, line->second.beta_error, last.beta_s_per_byte);
    keep_rate(line->second.down_beta_s_per_byte, line->second.down_beta_error,
              last.down_beta_s_per_byte);
  }
  if (measured_anew(lines_, before)) slowdown_.forget();
}

PlanInputs Planner::inputs(const PlanPolicy& policy) const {
  PlanInputs inputs = inputs_as_measured(policy);
  slow_down(inputs, slowdown_.factor());
  return inputs;
}

PlanInputs Planner::inputs_as_measured(const PlanPolicy& policy) const {
  PlanInputs inputs = {.values = config_.values,
                       .hub_beta_s_per_byte = lines_.hub_beta_s_per_byte,
                       .peer_alpha_s = lines_.peer_alpha_s,
                       .peer_beta_s_per_byte = lines_.peer_beta_s_per_byte,
                       .peers_reachable = lines_.peers_reachable,
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
    const auto line = lines_.agents.find(agent.id);
    PlanAgent one = {.name = agent.id,
                     .alpha_s = kUnknown,
                     .beta_s_per_byte = kUnknown,
                     .weight = agent.weight,
                     .compute_s = agent.compute_s,
                     .gain = agent.gain};
    if (line != lines_.agents.end()) {
      one.alpha_s = line->second.alpha_s;
      one.beta_s_per_byte = line->second.beta_s_per_byte;
      one.down_beta_s_per_byte = line->second.down_beta_s_per_byte;
    }
    const auto tried = tried_gains_.find(agent.id);
    if (tried != tried_gains_.end()) one.tried = tried->second;
    inputs.agents.push_back(std::move(one));
  }
  const double curve_gain = tried_.empty() ? 0 : PlanPredictor(inputs).curve_gain();
  for (PlanTried& tried : inputs.tried) {
    if (tried.curve_gain == kTriedJustNow) tried.curve_gain = curve_gain;
  }
  return inputs;
}

Result<std::optional<Planned>> Planner::think(const PlanLines& lines, const PlanPolicy& policy) {
  if (agents_.empty()) return std::optional<Planned>();
  Planned planned;
  take(lines);
  learn_from_last_round();
  planned.inputs = inputs(policy);
  TRIBUTARY_TRY(check(planned.inputs));
  tried_ = planned.inputs.tried;
  if (trigger_of(planned.inputs, PlanPredictor(planned.inputs)) == PlanTrigger::link) {
    planned.inputs.corrections = corrections_ = corrections_before_;
  }
  TRIBUTARY_ASSIGN(planned.decision, decide(planned.inputs));
  if (planned.decision.trigger == PlanTrigger::none) return std::optional<Planned>();
  const PlanPredictor predictor(planned.inputs);
  in_force_ = in_force(planned.decision, planned.inputs, predictor);
  asked(planned.decision);
  // Beside a line that is assumed nothing that was learnt can be told from what the line does.
  if (planned.decision.trigger != PlanTrigger::exploring && !predictor.assumed()) {
    corrections_before_ = corrections_;
  }
  return std::optional<Planned>(std::move(planned));
}

}  // namespace tributary
