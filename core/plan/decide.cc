#include "core/plan/decide.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "core/plan/search/down_weight.h"
#include "core/plan/trials.h"

namespace tributary {
namespace {

constexpr double kGainFloor = 1e-9;  // the logarithm of the gain stays finite
constexpr double kRoundFloor_s = 1e-9;
// Rounds before a choice can be left again, because a decision takes effect one round late, and
// rounds for which what was learned is of use, because links change.
constexpr double kTriedRounds = 2;
constexpr double kKeptRounds = 20;

// Symmetric relative change. A change to or from 0 always counts.
bool changed(double now, double before, double share) {
  const double least = std::min(now, before);
  return least > 0 ? std::max(now, before) / least > 1 + share : now != before;
}

bool changed(const LinkEstimate& now, const LinkEstimate& before, double share) {
  return changed(now.alpha_s, before.alpha_s, share) ||
         changed(now.beta_s_per_byte, before.beta_s_per_byte, share);
}

// The ratio that an agent has in force and the one that it would have now.
struct RatioChange {
  std::size_t agent = 0;
  double before = 0;
  double now = 0;

  double size() const { return std::abs(std::log(now / before)); }
};

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

// The choice in force, with its cost according to the current inputs. Empty if it can no longer be
// used.
std::optional<PlanOption> standing(const PlanInputs& inputs, const PlanPredictor& predictor) {
  if (!inputs.before) return {};
  const PlanChoice& choice = inputs.before->choice;
  const PlanCodec* codec = find_codec(inputs, choice);
  if (!codec || !predictor.possible(choice.collective)) return {};
  return PlanOption{
      .choice = choice,
      .cost = predictor.cost(*codec, choice.collective, choice.ratio, choice.bucket_values)};
}

// Options are compared by the share of the joint update that they keep (gain) and by the time of a
// round.
// The logarithm of the update energy that is kept per second. Its maximum is the knee of the Pareto
// set: beyond it time grows faster than gain, before it gain falls faster than time.
double knee_score(const PlanOption& option, double gain_weight) {
  return gain_weight * std::log(std::max(option.cost.gain, kGainFloor)) -
         std::log(std::max(option.cost.round_s, kRoundFloor_s));
}

double day_bytes(const PlanOption& option) { return option.cost.bytes_up + option.cost.bytes_down; }

// The number of rounds that fit until midnight without pauses, at least 1.
double rounds_today(const PlanPolicy& policy, const PlanOption& option) {
  const double rounds = policy.seconds_left_today / std::max(option.cost.round_s, kRoundFloor_s);
  return std::max(1.0, std::min(rounds, static_cast<double>(policy.rounds_left)));
}

bool within_budget(const PlanPolicy& policy, const PlanOption& option) {
  switch (policy.goal) {
    case wire::PlanGoal::adaptive:
      return true;
    case wire::PlanGoal::time_budget:
      return option.cost.round_s * static_cast<double>(policy.rounds_left) <= policy.budget_s;
    case wire::PlanGoal::byte_budget:
      return day_bytes(option) * rounds_today(policy, option) <= policy.bytes_left_today;
    case wire::PlanGoal::unspecified:
    case wire::PlanGoal::fixed:
      break;
  }
  return true;
}

// The rank of an option within the budget; greater is better.
double score(const PlanPolicy& policy, const PlanOption& option) {
  if (policy.goal == wire::PlanGoal::time_budget)
    return std::log(std::max(option.cost.gain, kGainFloor));
  return knee_score(option, policy.gain_weight);
}
// Nothing fits the budget: the option that exceeds it least is best, whatever its gain.
double score_over_budget(const PlanPolicy& policy, const PlanOption& option) {
  return policy.goal == wire::PlanGoal::time_budget ? -option.cost.round_s : -day_bytes(option);
}

// Compares options, most important first: within the budget, least gain reached, score. Options
// that are equal in all three keep their order.
class Better {
 public:
  explicit Better(const PlanPolicy& policy) : policy_(policy) {}

  bool operator()(const PlanOption& one, const PlanOption& other) const {
    const bool one_fits = within_budget(policy_, one);
    if (one_fits != within_budget(policy_, other)) return one_fits;
    const bool one_gains = one.cost.gain >= policy_.gain_min;
    if (one_gains != (other.cost.gain >= policy_.gain_min)) return one_gains;
    return one_fits ? score(policy_, one) > score(policy_, other)
                    : score_over_budget(policy_, one) > score_over_budget(policy_, other);
  }

  // Whether `one` is better by more than noise and measurement error may explain.
  // The hysteresis keeps two choices of nearly equal cost from alternating. It does not apply if
  // only one of them fits the budget or reaches the least gain.
  bool clearly(const PlanOption& one, const PlanOption& other) const {
    if (!(*this)(one, other)) return false;
    const bool alike = within_budget(policy_, one) && within_budget(policy_, other) &&
                       (one.cost.gain >= policy_.gain_min) == (other.cost.gain >= policy_.gain_min);
    if (!alike) return true;
    return score(policy_, one) > score(policy_, other) + std::log1p(policy_.hysteresis);
  }

 private:
  const PlanPolicy& policy_;
};

// The logarithms of the progress per second in each world.
std::vector<double> paces(const PlanInputs& inputs, const PlanPredictor& predictor,
                          const PlanOption& option) {
  const PlanChoice& choice = option.choice;
  const PreparedExchange prepared = predictor.prepare(
      *find_codec(inputs, choice), choice.collective, choice.ratio, choice.bucket_values);
  std::vector<double> logs;
  for (const PlanWorld& world : predictor.worlds()) {
    PlanOption in_world = option;
    in_world.cost.round_s = predictor.compute_s() + predictor.exchange_s(prepared, world);
    logs.push_back(knee_score(in_world, inputs.policy.gain_weight));
  }
  return logs;
}

// The value of choosing an option instead of another one, in logarithms of progress times rounds.
// The option is used for a few rounds in any case, and then kept in those worlds in which it is
// better: what is learned from trying it is worth that much.
double value_of(const std::vector<double>& option, const std::vector<double>& other) {
  double mean = 0;
  double better = 0;
  for (std::size_t i = 0; i < option.size(); ++i) {
    mean += option[i] - other[i];
    better += std::max(option[i] - other[i], 0.0);
  }
  const auto count = static_cast<double>(option.size());
  return (kTriedRounds * mean + kKeptRounds * better) / count;
}

// The options that a decision over the worlds compares. The first one is the one that all others
// are compared with, and `stays` says whether it is the choice in force.
struct Weighing {
  std::vector<WeighedOption> options = {};
  bool stays = false;
};

Weighing weigh(const PlanInputs& inputs, const PlanPredictor& predictor,
               const std::optional<PlanOption>& now, const std::vector<PlanOption>& options) {
  const double gain_weight = inputs.policy.gain_weight;
  const double gain_min = inputs.policy.gain_min;
  const auto counts = [&](const PlanOption& option) { return option.cost.gain >= gain_min; };
  const bool any = std::ranges::any_of(options, counts);
  const auto eligible = [&](const PlanOption& option) { return !any || counts(option); };
  const bool stays = now && eligible(*now);
  const PlanOption* base = stays ? &*now : nullptr;
  if (!base) {
    for (const PlanOption& option : options) {
      if (!eligible(option)) continue;
      if (!base || knee_score(option, gain_weight) > knee_score(*base, gain_weight)) base = &option;
    }
  }
  const std::vector<double> base_paces = paces(inputs, predictor, *base);
  Weighing weighing = {.options = {{.option = *base}}, .stays = stays};
  for (const PlanOption& option : options) {
    if (!eligible(option) || option.choice == base->choice) continue;
    weighing.options.push_back(
        {.option = option, .value = value_of(paces(inputs, predictor, option), base_paces)});
  }
  return weighing;
}

// Returns the choice with the greatest value over the belief; `now` stays unless another one is
// better by the hysteresis in all rounds.
PlanOption best_over_worlds(const PlanInputs& inputs, const PlanPredictor& predictor,
                            const std::optional<PlanOption>& now,
                            const std::vector<PlanOption>& options) {
  const Weighing weighing = weigh(inputs, predictor, now, options);
  const WeighedOption* best = &weighing.options.front();
  double most =
      weighing.stays ? (kTriedRounds + kKeptRounds) * std::log1p(inputs.policy.hysteresis) : 0;
  for (const WeighedOption& weighed : weighing.options) {
    if (!weighed.value || *weighed.value <= most) continue;
    most = *weighed.value;
    best = &weighed;
  }
  return best->option;
}

// If no choice is small enough for the daily byte budget, a pause between rounds keeps it.
double pause_for(const PlanPolicy& policy, const PlanOption& option) {
  if (policy.goal != wire::PlanGoal::byte_budget || within_budget(policy, option)) return 0;
  const double rounds = std::floor(std::max(policy.bytes_left_today, 0.0) / day_bytes(option));
  const double each_s = policy.seconds_left_today / std::max(rounds, 1.0);
  return rounds < 1 ? policy.seconds_left_today : std::max(each_s - option.cost.round_s, 0.0);
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
  std::vector<double> rates;
  for (const PlanWorld& world : predictor.worlds()) rates.push_back(rate(world));
  std::ranges::sort(rates);
  const std::size_t edge = rates.size() / 20;
  const std::string high = rate_text(rates[edge]);
  const std::string low = rate_text(rates[rates.size() - 1 - edge]);
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
  if (changed(predictor.slowest_link(), inputs.before->link, share)) {
    return line_change_text("the slowest link", predictor.slowest_link(), inputs.before->link,
                            share);
  }
  if (changed(predictor.peers(), inputs.before->peers, share)) {
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

// "Keep A: cause, but ...", "Use A instead of B, because cause", or "Use A in the first plan, ...".
std::string sentence(const PlanDecision& decision, const std::optional<PlanOption>& standing,
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
    const PlanChoice& before = inputs.before->choice;
    text = fmt::format("Use {} instead of {}, because {}", chosen,
                       standing ? option_text(*standing) : choice_text(before), why);
  }
  text += ratios_text(decision, inputs) + down_weight_text(decision);
  if (!trials.specs.empty()) text += "; " + trials.sentence;
  return text + budget_text(decision, inputs.policy);
}

// The first reason that applies. A choice that stays, with the same ratios, needs none.
wire::Trigger trigger_of(const PlanInputs& inputs, const PlanPredictor& predictor,
                         const std::optional<PlanOption>& now, bool switched) {
  if (!inputs.before) return wire::Trigger::first_round;
  const PlanBefore& before = *inputs.before;
  if (!now || before.agents != inputs.agents.size()) return wire::Trigger::membership_changed;
  const RatioChange ratio = greatest_ratio_change(inputs, predictor);
  if (changed(ratio.now, ratio.before, inputs.policy.link_change) || down_weight_changed(inputs)) {
    return wire::Trigger::link_changed;
  }
  const bool gain = changed(now->cost.gain, before.gain, inputs.policy.gain_change) ||
                    codec_with_other_gain(inputs, predictor);
  if (gain && before.rounds >= inputs.policy.dwell_rounds) return wire::Trigger::gain_changed;
  return switched ? wire::Trigger::link_changed : wire::Trigger::unchanged;
}

// Whether choices are weighed over the worlds of a belief, and not by their means alone.
bool weighs_worlds(const PlanInputs& inputs) {
  return inputs.policy.goal == wire::PlanGoal::adaptive && !inputs.worlds.empty();
}

// The choice for the next rounds. With a belief, a choice is left after a round at the earliest,
// without one after dwell_rounds, except if it is impossible or agents have come or left.
PlanOption choose(const PlanInputs& inputs, const PlanPredictor& predictor,
                  const std::optional<PlanOption>& now, const PlanSearchOptions& options,
                  const Better& better) {
  const bool weighs = weighs_worlds(inputs);
  const std::uint64_t dwell =
      weighs ? std::min(inputs.policy.dwell_rounds, 1u) : inputs.policy.dwell_rounds;
  const bool recent =
      now && inputs.before->agents == inputs.agents.size() && inputs.before->rounds < dwell;
  if (recent) return *now;
  if (weighs) {
    return best_over_worlds(inputs, predictor, now, shortlist(inputs, predictor, options));
  }
  const std::vector<PlanOption> all = pareto_set(inputs, predictor, options);
  // Options are ordered by round time, and max_element returns the first of equal ones: the
  // fastest.
  const auto best = std::ranges::max_element(
      all, [&](const PlanOption& a, const PlanOption& b) { return better(b, a); });
  return now && !better.clearly(*best, *now) ? *now : *best;
}

}  // namespace

Result<PlanDecision> decide(const PlanInputs& inputs, const PlanSearchOptions& options) {
  TRIBUTARY_TRY(check(inputs));
  // A pure function of its inputs: the same inputs give the same decision on every machine, so a
  // decision can be repeated from the journal.
  const PlanPredictor predictor(inputs);
  const std::optional<PlanOption> now = standing(inputs, predictor);
  const Better better(inputs.policy);
  PlanDecision decision = {.chosen = choose(inputs, predictor, now, options, better)};
  decision.switched = !now || decision.chosen.choice != now->choice;
  decision.trigger = trigger_of(inputs, predictor, now, decision.switched);
  if (decision.trigger != wire::Trigger::unchanged) {
    decision.options = pareto_set(inputs, predictor, options);
  }
  decision.over_budget = !within_budget(inputs.policy, decision.chosen);
  decision.pause_s = pause_for(inputs.policy, decision.chosen);
  const PlanChoice& choice = decision.chosen.choice;
  decision.ratios = predictor.ratios(*find_codec(inputs, choice), choice.collective, choice.ratio,
                                     choice.bucket_values);
  decision.down_weight = down_weight_of(inputs, choice);
  // A codec is worth a trial only if it would clearly replace the choice at its best possible gain.
  PlanTrials trials = trials_of(inputs, predictor, decision.chosen, [&](const PlanOption& option) {
    return better.clearly(option, decision.chosen);
  });
  if (decision.trigger == wire::Trigger::unchanged && !trials.specs.empty()) {
    decision.trigger = wire::Trigger::exploration;
  }
  decision.reason = sentence(decision, now, inputs, predictor, trials);
  decision.trials = std::move(trials.specs);
  decision.trial_s = trials.seconds;
  return decision;
}

std::vector<WeighedOption> weighed_options(const PlanInputs& inputs, const PlanPredictor& predictor,
                                           const PlanSearchOptions& options) {
  const std::optional<PlanOption> now = standing(inputs, predictor);
  if (weighs_worlds(inputs)) {
    return weigh(inputs, predictor, now, shortlist(inputs, predictor, options)).options;
  }
  std::vector<PlanOption> all = pareto_set(inputs, predictor, options);
  if (now && std::ranges::find(all, now->choice, &PlanOption::choice) == all.end()) {
    all.push_back(*now);
  }
  const Better better(inputs.policy);
  std::ranges::stable_sort(all, better);
  std::vector<WeighedOption> weighed;
  for (PlanOption& option : all) {
    weighed.push_back({.option = std::move(option), .value = std::nullopt});
  }
  return weighed;
}

bool preferred(const PlanPolicy& policy, const PlanOption& one, const PlanOption& other) {
  return Better(policy)(one, other);
}

PlanBefore in_force(const PlanDecision& decision, const PlanInputs& inputs,
                    const PlanPredictor& predictor) {
  const PlanOption& chosen = decision.chosen;
  std::map<std::string, double> gains = believed_gains(inputs, predictor);
  // A decision that only asks for trials leaves the choice as it was, with the values that it was
  // made by. Otherwise a slow drift would never add up to a change.
  if (decision.trigger == wire::Trigger::exploration && inputs.before) {
    PlanBefore before = *inputs.before;
    if (before.gains.empty()) before.gains = std::move(gains);
    return before;
  }
  return {.choice = chosen.choice,
          .rounds = 0,
          .agents = inputs.agents.size(),
          .link = predictor.slowest_link(),
          .peers = predictor.peers(),
          .exchange_s = chosen.cost.exchange_s,
          .gain = chosen.cost.gain,
          .ratios = decision.ratios,
          .down_weight = decision.down_weight,
          .gains = std::move(gains)};
}

}  // namespace tributary
