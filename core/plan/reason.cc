#include "core/plan/reason.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "core/plan/search/down_weight.h"

namespace tributary {
namespace {

bool either_changed(const LinkEstimate& now, const LinkEstimate& before, double share) {
  return changed(now.alpha_s, before.alpha_s, share) ||
         changed(now.beta_s_per_byte, before.beta_s_per_byte, share);
}

std::string time_text(double seconds) {
  return seconds < 1 ? fmt::format("{:.3g} ms", seconds * 1e3) : fmt::format("{:.3g} s", seconds);
}

std::string rate_text(double beta) {
  if (!(beta > 0)) return "an unlimited rate";
  const double mbit = 8e-6 / beta;
  return mbit < 999.5 ? fmt::format("{:.3g} Mbit/s", mbit)
                      : fmt::format("{:.3g} Gbit/s", mbit / 1e3);
}

std::string estimate_text(const LinkEstimate& link) {
  return fmt::format("{} and {}", rate_text(link.beta_s_per_byte), time_text(link.alpha_s));
}

// Names only the quantity that has changed, or both if both have.
std::string line_change_text(std::string_view link, const LinkEstimate& now,
                             const LinkEstimate& before, double share) {
  const bool alpha = changed(now.alpha_s, before.alpha_s, share);
  const bool beta = changed(now.beta_s_per_byte, before.beta_s_per_byte, share);
  if (alpha && beta) {
    return fmt::format("{} changed from {} to {}", link, estimate_text(before), estimate_text(now));
  }
  if (alpha) {
    return fmt::format("the latency of {} {} from {} to {}", link,
                       now.alpha_s < before.alpha_s ? "fell" : "rose", time_text(before.alpha_s),
                       time_text(now.alpha_s));
  }
  return fmt::format("the rate of {} {} from {} to {}", link,
                     now.beta_s_per_byte > before.beta_s_per_byte ? "fell" : "rose",
                     rate_text(before.beta_s_per_byte), rate_text(now.beta_s_per_byte));
}

std::string choice_text(const PlanChoice& choice) {
  return fmt::format("{} by {}", choice.codec, wire::EnumNameCollective(choice.collective));
}

std::string option_text(const PlanOption& option) {
  return fmt::format("{} ({} per round, {:.3g} % of the update)", choice_text(option.choice),
                     time_text(option.cost.round_s), option.cost.gain * 100);
}

std::string agent_name(const PlanInputs& inputs, std::size_t agent) {
  const std::string& name = inputs.agents[agent].name;
  return name.empty() ? fmt::format("agent {}", agent) : name;
}

// The range that holds a value in nine of ten worlds.
std::string band_text(const PlanPredictor& predictor,
                      const std::function<double(const PlanWorld&)>& rate) {
  std::vector<double> betas;
  for (const PlanWorld& world : predictor.worlds()) betas.push_back(rate(world));
  const BeliefBand band = band_of(std::move(betas));  // a low beta is a high rate
  const std::string high = rate_text(band.low);
  const std::string low = rate_text(band.high);
  return high == low ? low : fmt::format("{} to {}", low, high);
}

// The belief about the links, as a main clause.
std::string links_text(const PlanPredictor& predictor) {
  const auto up = [](const PlanWorld& world) { return world.slowest.rate.up; };
  const auto peers = [](const PlanWorld& world) { return world.peers.beta_s_per_byte; };
  std::string text = fmt::format("the slowest uplink has {} and {}", band_text(predictor, up),
                                 time_text(predictor.typical().slowest.alpha_s));
  if (predictor.possible(wire::Collective::ring)) {
    text += fmt::format(" and the agents' own network {}", band_text(predictor, peers));
  }
  return text + (predictor.worlds().size() > 1 ? " (90 % sure)" : "");
}

std::string link_reason(const PlanInputs& inputs, const PlanPredictor& predictor) {
  const double share = inputs.policy.link_change;
  if (either_changed(predictor.slowest_link(), inputs.before->link, share)) {
    return line_change_text("the slowest link", predictor.slowest_link(), inputs.before->link,
                            share);
  }
  if (either_changed(predictor.peers(), inputs.before->peers, share)) {
    return line_change_text("the slowest link between agents", predictor.peers(),
                            inputs.before->peers, share);
  }
  if (down_weight_changed(inputs)) {
    return fmt::format(
        "the rate of the slowest downlink is about {:.3g} times that of the slowest "
        "uplink instead of {:.3g} times",
        1 / down_weight_of(inputs, inputs.before->choice), 1 / inputs.before->down_weight);
  }
  const RatioChange ratio = greatest_ratio_change(inputs, predictor);
  if (changed(ratio.now, ratio.before, share)) {
    return fmt::format("the link of {} allows a ratio of {:.2g} instead of {:.2g}",
                       agent_name(inputs, ratio.agent), ratio.now, ratio.before);
  }
  return links_text(predictor);
}

std::string gain_reason(const PlanOption& standing, const PlanInputs& inputs,
                        const PlanPredictor& predictor) {
  if (const PlanCodec* const codec = codec_with_other_gain(inputs, predictor)) {
    return fmt::format(
        "trials of {1} kept {0:.3g} % of the updates instead of the expected {2:.3g} %",
        predictor.fixed_gain(*codec) * 100, codec->spec,
        inputs.before->gains.at(codec->spec) * 100);
  }
  return fmt::format("{} keeps {:.3g} % of the update instead of {:.3g} %", standing.choice.codec,
                     standing.cost.gain * 100, inputs.before->gain * 100);
}

std::string membership_reason(const std::optional<PlanOption>& standing, const PlanInputs& inputs) {
  if (standing) {
    return fmt::format("{} agents take part instead of {}", inputs.agents.size(),
                       inputs.before->agents);
  }
  return find_codec(inputs, inputs.before->choice)
             ? "the agents cannot reach one another any more"
             : fmt::format("codec {} is not available any more", inputs.before->choice.codec);
}

// The cause of the decision, a main clause. `standing` is the choice in force; empty if it is
// impossible or if there is none.
std::string cause(wire::Trigger trigger, const std::optional<PlanOption>& standing,
                  const PlanInputs& inputs, const PlanPredictor& predictor) {
  switch (trigger) {
    case wire::Trigger::unchanged:
      return "no link, gain or time changed enough";
    case wire::Trigger::first_round:
      return links_text(predictor);
    case wire::Trigger::membership_changed:
      return membership_reason(standing, inputs);
    case wire::Trigger::link_changed:
      return link_reason(inputs, predictor);
    case wire::Trigger::gain_changed:
      return gain_reason(*standing, inputs, predictor);
    default:
      return {};
  }
}

// By how much the progress per second of the chosen option exceeds that of the standing one, over
// the worlds of the belief.
BeliefBand progress_band(const PlanOption& chosen, const PlanOption& standing,
                         const PlanInputs& inputs, const PlanPredictor& predictor) {
  const auto prepared = [&](const PlanChoice& choice) {
    return predictor.prepare(*find_codec(inputs, choice), choice.collective, choice.ratio,
                             choice.bucket_values);
  };
  const PreparedExchange one = prepared(chosen.choice);
  const PreparedExchange other = prepared(standing.choice);
  const double gain = std::pow(chosen.cost.gain / standing.cost.gain, inputs.policy.gain_weight);
  const double compute_s = predictor.compute_s();
  std::vector<double> ratios;
  for (const PlanWorld& world : predictor.worlds()) {
    ratios.push_back(gain * (compute_s + predictor.beyond_training_s(other, world)) /
                     (compute_s + predictor.beyond_training_s(one, world)));
  }
  return band_of(std::move(ratios));
}

// "Use A instead of B, because cause", or "Try ..." if A is not better in most worlds.
std::string switch_text(const PlanDecision& decision, const std::optional<PlanOption>& standing,
                        const PlanInputs& inputs, const PlanPredictor& predictor,
                        const std::string& why) {
  const std::string chosen = option_text(decision.chosen);
  if (!standing) {
    return fmt::format("Use {} instead of {}, because {}", chosen,
                       choice_text(inputs.before->choice), why);
  }
  const std::string instead = fmt::format("{} instead of {}", chosen, option_text(*standing));
  const bool weighed = inputs.policy.goal == wire::PlanGoal::adaptive && !inputs.worlds.empty();
  if (weighed && decision.trigger == wire::Trigger::link_changed) {
    const BeliefBand band = progress_band(decision.chosen, *standing, inputs, predictor);
    if (band.median < 1 + inputs.policy.hysteresis) {
      return fmt::format(
          "Try {}, because it makes {:.2g} to {:.2g} times as much progress per second (90 % sure) "
          "and {}",
          instead, band.low, band.high, why);
    }
  }
  return fmt::format("Use {}, because {}", instead, why);
}

// Text about the agents that send less than the choice's ratio. Only their number if they are many.
std::string ratios_text(const PlanDecision& decision, const PlanInputs& inputs) {
  constexpr std::size_t kNamedMax = 4;
  std::vector<std::string> texts;
  std::size_t least = 0;
  for (std::size_t i = 0; i < decision.ratios.size(); ++i) {
    if (decision.ratios[i] >= decision.chosen.choice.ratio) continue;
    if (texts.empty() || decision.ratios[i] < decision.ratios[least]) least = i;
    texts.push_back(fmt::format("{} has ratio {:.2g}", agent_name(inputs, i), decision.ratios[i]));
  }
  if (texts.empty()) return {};
  if (texts.size() <= kNamedMax) {
    return fmt::format("; for its slow link {}", fmt::join(texts, ", "));
  }
  return fmt::format("; {} of {} agents have a smaller ratio, the slowest {:.2g}", texts.size(),
                     decision.ratios.size(), decision.ratios[least]);
}

std::string down_weight_text(const PlanDecision& decision) {
  if (decision.down_weight == 1) return {};
  return fmt::format(
      "; down_weight={}, because the slowest downlink has about {:.3g} times the rate "
      "of the slowest uplink",
      decision.down_weight, 1 / decision.down_weight);
}

std::string budget_text(const PlanDecision& decision, const PlanPolicy& policy) {
  if (!decision.over_budget) return {};
  if (policy.goal == wire::PlanGoal::time_budget) {
    return fmt::format(
        "; {} rounds do not fit into the remaining {}, so the fastest choice is used",
        policy.rounds_left, time_text(std::max(policy.budget_s, 0.0)));
  }
  return fmt::format(
      "; even the smallest choice exceeds the bytes left today, so rounds pause for {}",
      time_text(decision.pause_s));
}

}  // namespace

// Symmetric relative change. A change to or from 0 always counts.
bool changed(double now, double before, double share) {
  const double least = std::min(now, before);
  return least > 0 ? std::max(now, before) / least > 1 + share : now != before;
}

// Returns the agent whose ratio would change most.
RatioChange greatest_ratio_change(const PlanInputs& inputs, const PlanPredictor& predictor) {
  const PlanBefore& before = *inputs.before;
  const PlanChoice& choice = before.choice;
  const std::vector<double> now = predictor.ratios(*find_codec(inputs, choice), choice.collective,
                                                   choice.ratio, choice.bucket_values);
  const auto of = [&](const std::vector<double>& ratios, std::size_t agent) {
    return ratios.empty() ? choice.ratio : ratios[agent];
  };
  RatioChange most = {.before = of(before.ratios, 0), .now = of(now, 0)};
  for (std::size_t i = 1; i < inputs.agents.size(); ++i) {
    const RatioChange one = {.agent = i, .before = of(before.ratios, i), .now = of(now, i)};
    if (one.size() > most.size()) most = one;
  }
  return most;
}

bool down_weight_changed(const PlanInputs& inputs) {
  const PlanBefore& before = *inputs.before;
  return down_weight_of(inputs, before.choice) != before.down_weight;
}

// "Keep A: cause, but ...", as switch_text(), or "Use A in the first plan, ...".
std::string reason_sentence(const PlanDecision& decision, const std::optional<PlanOption>& standing,
                            const PlanInputs& inputs, const PlanPredictor& predictor,
                            const PlanTrials& trials) {
  const std::string chosen = option_text(decision.chosen);
  if (decision.trigger == wire::Trigger::exploration) {
    return fmt::format("Keep {}: {}", chosen, trials.sentence);
  }
  const std::string why = cause(decision.trigger, standing, inputs, predictor);
  std::string text;
  if (decision.trigger == wire::Trigger::unchanged) {
    text = fmt::format("Keep {}: {}", chosen, why);
  } else if (!decision.switched) {
    text = fmt::format("Keep {}: {}, but no alternative is better by {:.3g} %", chosen, why,
                       inputs.policy.hysteresis * 100);
  } else if (!inputs.before) {
    text = fmt::format("Use {} in the first plan, because {}", chosen, why);
  } else {
    text = switch_text(decision, standing, inputs, predictor, why);
  }
  text += ratios_text(decision, inputs) + down_weight_text(decision);
  if (!trials.specs.empty()) text += "; " + trials.sentence;
  return text + budget_text(decision, inputs.policy);
}

}  // namespace tributary
