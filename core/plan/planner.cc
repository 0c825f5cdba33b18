#include "core/plan/planner.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <utility>

namespace tributary {
namespace {

// Bound on measured over expected size, and its inverse.
constexpr double kSizeMax = 64;
// Many agents have fewer worlds, because a decision stores the links of each.
constexpr std::size_t kWorldLinksMax = 8192;
constexpr std::size_t kWorldsMin = 8;
// Error of a reading of a latency, a logarithm.
constexpr double kLatencyError = 0.15;
// Any seed does: draws need not differ between jobs.
constexpr std::uint64_t kBeliefSeed = 24;

// The codec and the ratio of a spec; no codec if it is none of `codecs`.
std::pair<const PlanCodec*, double> codec_of(const std::vector<PlanCodec>& codecs,
                                             const std::string& spec) {
  constexpr std::string_view kRatio = "cr=";
  double ratio = 1;
  if (const std::size_t at = spec.find(kRatio); at != std::string::npos) {
    ratio = std::strtod(spec.c_str() + at + kRatio.size(), nullptr);
  }
  for (const PlanCodec& codec : codecs) {
    if (make_choice(codec, wire::Collective::star, ratio, 1).codec == spec) return {&codec, ratio};
  }
  return {nullptr, 1};
}

// Marker in PlanTried::curve_gain for a codec tried in the current round; the value is set once the
// inputs of the round are complete.
constexpr double kTriedJustNow = -1;

}  // namespace

Planner::Planner(PlannerConfig config)
    : config_(std::move(config)),
      belief_(kBeliefSeed, config_.codecs),
      trains_ahead_(config_.trains_ahead) {}

void Planner::resume(const Planned& planned) {
  std::vector<std::string> ids;
  for (const PlanAgent& agent : planned.inputs.agents) ids.push_back(agent.name);
  belief_.restore(ids, planned.inputs.worlds);
  in_force_ = in_force(planned.decision, planned.inputs, PlanPredictor(planned.inputs));
  trains_ahead_ = planned.inputs.trains_ahead;
  tried_ = planned.inputs.tried;
  for (const PlanAgent& agent : planned.inputs.agents) tried_gains_[agent.name] = agent.tried;
  rounds_unasked_ = planned.inputs.rounds_unasked;
  asked_in_vain_ = planned.inputs.asked_in_vain;
  asked(planned.decision);
}

void Planner::continue_from(const Planner& other) {
  std::vector<std::optional<std::size_t>> codecs;
  for (const PlanCodec& codec : config_.codecs) {
    const auto found = std::ranges::find(other.config_.codecs, codec.spec, &PlanCodec::spec);
    std::optional<std::size_t>& index = codecs.emplace_back();
    if (found != other.config_.codecs.end()) {
      index = static_cast<std::size_t>(found - other.config_.codecs.begin());
    }
  }
  belief_.continue_from(other.belief_, codecs);
  links_ = other.links_;  // old readings are not new evidence
  trains_ahead_ = other.trains_ahead_;
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
  std::vector<std::string> ids;
  for (const RoundFacts::Agent& agent : agents_) ids.push_back(agent.id);
  belief_.set_agents(ids);
  if (by_peers_) learn_ahead(facts);
  by_peers_ = facts.collective != wire::Collective::star;
  learn_round(facts);
  if (in_force_ && facts.codec == in_force_->choice.codec &&
      facts.collective == in_force_->choice.collective) {
    ++in_force_->rounds;
  }
}

void Planner::learn_round(const RoundFacts& facts) {
  // Waits belong to the round before this one, whether or not this one is understood.
  const std::optional<Exchanged> before = std::exchange(exchanged_, std::nullopt);
  if (agents_.empty()) return;
  const auto [codec, ratio] = codec_of(config_.codecs, facts.codec);
  if (!codec) return;
  learn_size(*codec, facts.bytes_up / static_cast<double>(config_.values));
  const PlanInputs known = inputs({}, 0);
  if (facts.bucket_values == 0 || !check(known).ok()) return;
  const PlanPredictor predictor(known);
  const PlanCodec& timed = known.codecs[static_cast<std::size_t>(codec - config_.codecs.data())];
  if (!predictor.possible(timed, facts.collective)) return;
  if (before && before->round + 1 == facts.round) learn_parts(predictor, *before, facts);
  PreparedExchange exchange =
      predictor.prepare(timed, facts.collective, ratio, facts.bucket_values);
  exchange.ratios.clear();
  if (in_force_ && facts.codec == in_force_->choice.codec &&
      in_force_->ratios.size() == agents_.size()) {
    exchange.ratios = in_force_->ratios;
  }
  const double elapsed_s = predictor.compute_s() + facts.exchange_s;
  belief_.saw_round(predictor, exchange, facts.exchange_s, elapsed_s);
  if (facts.collective == wire::Collective::star) return;
  exchanged_ = {.round = facts.round,
                .exchange = std::move(exchange),
                .exchange_s = facts.exchange_s,
                .elapsed_s = elapsed_s,
                .agents = {}};
  for (const RoundFacts::Agent& agent : agents_) exchanged_->agents.push_back(agent.id);
}

// Whether agents train ahead is a setting of theirs, and a changing learning rate prevents it. One
// round without it shows nothing: the rate may have changed once.
void Planner::learn_ahead(const RoundFacts& facts) {
  constexpr std::uint64_t kNotAheadRounds = 2;
  const auto ahead = std::ranges::count_if(
      facts.agents, [](const RoundFacts::Agent& agent) { return agent.hidden_s > 0; });
  if (2 * static_cast<std::size_t>(ahead) > facts.agents.size()) {
    rounds_not_ahead_ = 0;
    trains_ahead_ = true;
  } else if (++rounds_not_ahead_ >= kNotAheadRounds) {
    trains_ahead_ = false;
  }
}

// The median of the agents, so that one that reports nonsense decides nothing.
void Planner::learn_parts(const PlanPredictor& predictor, const Exchanged& before,
                          const RoundFacts& facts) {
  std::vector<double> waits;
  std::vector<std::string> ids;
  for (const RoundFacts::Agent& agent : facts.agents) {
    ids.push_back(agent.id);
    if (agent.waited_s > 0) waits.push_back(agent.waited_s);
  }
  if (ids != before.agents || 2 * waits.size() <= ids.size()) return;
  const auto middle = waits.begin() + static_cast<std::ptrdiff_t>((waits.size() - 1) / 2);
  std::ranges::nth_element(waits, middle);
  const double upload_s = std::min(*middle, before.exchange_s);
  belief_.saw_parts(predictor, before.exchange,
                    {.exchange_s = before.exchange_s - upload_s, .upload_s = upload_s},
                    before.elapsed_s);
}

// The payload size of a codec without a ratio depends on the values and, with GComp, on the
// optimizer's state. The measurement used synthetic values without such a state, so the size is
// corrected from real updates.
void Planner::learn_size(const PlanCodec& codec, double bytes_per_value) {
  if (codec.family != PlanFamily::fixed) return;
  double per_value = 0;
  for (const PlanStage& stage : codec.stages) per_value += stage.up_bytes_per_value;
  const double factor = bytes_per_value / per_value;
  if (!std::isfinite(factor) || factor <= 0) return;
  belief_.saw_size(static_cast<std::size_t>(&codec - config_.codecs.data()),
                   std::clamp(factor, 1 / kSizeMax, kSizeMax));
}

void Planner::take(const PlanLinks& links) {
  const PlanLinks before = std::exchange(links_, links);
  const auto fresh = [](double now, double last) { return !std::isnan(now) && now != last; };
  for (const RoundFacts::Agent& agent : agents_) {
    const auto found = links_.agents.find(agent.id);
    if (found == links_.agents.end()) continue;
    const PlanLinks::Agent& now = found->second;
    const auto seen = before.agents.find(agent.id);
    const PlanLinks::Agent last = seen == before.agents.end() ? PlanLinks::Agent() : seen->second;
    if (fresh(now.alpha_s, last.alpha_s)) belief_.saw_latency(agent.id, now.alpha_s, kLatencyError);
    if (fresh(now.beta_s_per_byte, last.beta_s_per_byte)) {
      belief_.saw_uplink(agent.id, now.beta_s_per_byte, std::max(now.beta_error, kLatencyError));
    }
    if (fresh(now.down_beta_s_per_byte, last.down_beta_s_per_byte)) {
      belief_.saw_downlink(agent.id, now.down_beta_s_per_byte,
                           std::max(now.down_beta_error, kLatencyError));
    }
  }
  if (fresh(links_.peer_alpha_s, before.peer_alpha_s)) {
    belief_.saw_peer_latency(links_.peer_alpha_s, kLatencyError);
  }
  if (fresh(links_.peer_beta_s_per_byte, before.peer_beta_s_per_byte)) {
    belief_.saw_peer_rate(links_.peer_beta_s_per_byte, 2 * kLatencyError);
  }
}

PlanInputs Planner::inputs(const PlanPolicy& policy, std::size_t worlds) const {
  PlanInputs inputs = {.values = config_.values,
                       .peers_reachable = links_.peers_reachable,
                       .aggregator_present = links_.aggregator_present,
                       .message_s = config_.message_s,
                       .settled = config_.settled,
                       .trains_ahead = trains_ahead_,
                       .cores = config_.cores,
                       .agreement = config_.agreement,
                       .own_ratios = config_.own_ratios,
                       .policy = policy,
                       .before = in_force_,
                       .tried = tried_,
                       .rounds_unasked = rounds_unasked_,
                       .asked_in_vain = asked_in_vain_};
  std::vector<DeviceSpeeds> devices;
  for (const RoundFacts::Agent& agent : agents_) devices.push_back(agent.speeds);
  inputs.codecs = on_slowest(config_.codecs, config_.measured_on, devices);
  inputs.agent_slowdown = slowdown_of_slowest(config_.measured_on, devices);
  if (worlds > 0) inputs.worlds = belief_.worlds(worlds);
  PlanWorld typical;
  if (worlds > 0) typical = typical_world(inputs.worlds);
  typical.links.resize(agents_.size());
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    const RoundFacts::Agent& agent = agents_[i];
    const PlanWorld::Link& link = typical.links[i];
    PlanAgent planned = {.name = agent.id,
                         .alpha_s = link.alpha_s,
                         .beta_s_per_byte = link.rate.up,
                         .down_beta_s_per_byte = link.rate.down,
                         .weight = agent.weight,
                         .compute_s = agent.compute_s,
                         .gain = agent.gain};
    const auto tried = tried_gains_.find(agent.id);
    if (tried != tried_gains_.end()) planned.tried = tried->second;
    inputs.agents.push_back(std::move(planned));
  }
  inputs.hub_beta_s_per_byte = typical.hub_s_per_byte;
  inputs.peer_alpha_s = typical.peers.alpha_s;
  inputs.peer_beta_s_per_byte = typical.peers.beta_s_per_byte;
  inputs.overhead_s = typical.overhead_s;
  const double curve_gain = tried_.empty() ? 0 : PlanPredictor(inputs).curve_gain();
  for (PlanTried& tried : inputs.tried) {
    if (tried.curve_gain == kTriedJustNow) tried.curve_gain = curve_gain;
  }
  return inputs;
}

Result<std::optional<Planned>> Planner::think(const PlanLinks& links, const PlanPolicy& policy) {
  if (agents_.empty()) return std::optional<Planned>();
  take(links);
  const std::size_t most = kWorldLinksMax / agents_.size();
  Planned planned;
  planned.inputs = inputs(policy, std::clamp(most, kWorldsMin, kWorlds));
  TRIBUTARY_TRY(check(planned.inputs));
  tried_ = planned.inputs.tried;
  TRIBUTARY_ASSIGN(planned.decision, decide(planned.inputs));
  if (planned.decision.trigger == wire::Trigger::unchanged) return std::optional<Planned>();
  in_force_ = in_force(planned.decision, planned.inputs, PlanPredictor(planned.inputs));
  asked(planned.decision);
  return std::optional<Planned>(std::move(planned));
}

}  // namespace tributary
