#include "core/plan/decide.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/plan/trials.h"

namespace tributary {
namespace {

constexpr double kGainFloor = 1e-9;  // the logarithm of the gain stays finite
constexpr double kRoundFloor_s = 1e-9;

// Symmetric relative change. A change to or from 0 always counts.
bool changed(double now, double before, double share) {
  const double least = std::min(now, before);
  return least > 0 ? std::max(now, before) / least > 1 + share : now != before;
}

bool changed(const LinkEstimate& now, const LinkEstimate& before, double share) {
  return changed(now.alpha_s, before.alpha_s, share) ||
         changed(now.beta_s_per_byte, before.beta_s_per_byte, share);
}

// Whether an agent's ratio would differ from the one in force by more than link_change.
// The slowest link may stay the same while the differences between the links change. Then only the
// agents' shares are wrong, which this detects.
bool changed_ratios(const PlanInputs& inputs, const PlanPredictor& predictor) {
  const PlanBefore& before = *inputs.before;
  const PlanChoice& choice = before.choice;
  const std::vector<double> now = predictor.ratios(*find_codec(inputs, choice), choice.collective,
                                                   choice.ratio, choice.bucket_values);
  const auto of = [&](const std::vector<double>& ratios, std::size_t agent) {
    return ratios.empty() ? choice.ratio : ratios[agent];
  };
  for (std::size_t i = 0; i < inputs.agents.size(); ++i) {
    if (changed(of(now, i), of(before.ratios, i), inputs.policy.link_change)) return true;
  }
  return false;
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

std::string option_text(const PlanOption& option) {
  return fmt::format("{} by {} ({} per round, {:.3g} % of the update)", option.choice.codec,
                     wire::EnumNameCollective(option.choice.collective),
                     time_text(option.cost.round_s), option.cost.gain * 100);
}

std::string because(PlanTrigger trigger, const PlanInputs& inputs, const PlanPredictor& predictor) {
  switch (trigger) {
    case PlanTrigger::none:
      return "nothing has changed enough";
    case PlanTrigger::first:
      return fmt::format("it is the first plan, and the slowest link has {}{}",
                         estimate_text(predictor.slowest_link()),
                         predictor.assumed() ? ", partly assumed until it is measured" : "");
    case PlanTrigger::impossible:
      return "the current choice is not possible any more";
    case PlanTrigger::membership:
      return fmt::format("{} agents take part instead of {}", inputs.agents.size(),
                         inputs.before->agents);
    case PlanTrigger::link:
      if (changed(predictor.slowest_link(), inputs.before->link, inputs.policy.link_change)) {
        return fmt::format("the slowest link has {} instead of {}",
                           estimate_text(predictor.slowest_link()),
                           estimate_text(inputs.before->link));
      }
      if (changed(predictor.peers(), inputs.before->peers, inputs.policy.link_change)) {
        return fmt::format("the slowest link between agents has {} instead of {}",
                           estimate_text(predictor.peers()), estimate_text(inputs.before->peers));
      }
      return "the differences between the links have changed";
    case PlanTrigger::cost:
      return fmt::format("exchanges did not take the predicted {}",
                         time_text(inputs.before->exchange_s));
    case PlanTrigger::gain:
      if (const PlanCodec* const codec = codec_with_other_gain(inputs, predictor)) {
        return fmt::format(
            "trials of {1} kept {0:.3g} % of the updates instead of the expected {2:.3g} %",
            predictor.fixed_gain(*codec) * 100, codec->spec,
            inputs.before->gains.at(codec->spec) * 100);
      }
      return fmt::format("the choice does not keep {:.3g} % of the update any more",
                         inputs.before->gain * 100);
    case PlanTrigger::exploring:
      break;
  }
  return {};
}

// Text about the agents that keep less than the choice's ratio. Only their number if they are many.
std::string ratios_text(const PlanDecision& decision, const PlanInputs& inputs) {
  constexpr std::size_t kNamedMax = 4;
  std::vector<std::string> texts;
  std::size_t least = 0;
  for (std::size_t i = 0; i < decision.ratios.size(); ++i) {
    if (decision.ratios[i] >= decision.chosen.choice.ratio) continue;
    if (texts.empty() || decision.ratios[i] < decision.ratios[least]) least = i;
    const std::string& name = inputs.agents[i].name;
    texts.push_back(fmt::format("{} keeps {:.2g}", name.empty() ? fmt::format("agent {}", i) : name,
                                decision.ratios[i]));
  }
  if (texts.empty()) return {};
  if (texts.size() <= kNamedMax) return fmt::format("; {}", fmt::join(texts, ", "));
  return fmt::format("; {} of {} agents keep less, the one with the slowest link {:.2g}",
                     texts.size(), decision.ratios.size(), decision.ratios[least]);
}

std::string sentence(const PlanDecision& decision, const std::optional<PlanOption>& standing,
                     const PlanInputs& inputs, const PlanPredictor& predictor,
                     const PlanTrials& trials) {
  std::string text = option_text(decision.chosen);
  if (decision.trigger == PlanTrigger::exploring) return text + " stays: " + trials.sentence;
  if (standing) {
    text += decision.switched ? " instead of " + option_text(*standing)
                              : ", because no alternative is clearly better";
  }
  text += ": " + because(decision.trigger, inputs, predictor);
  text += ratios_text(decision, inputs);
  if (!trials.specs.empty()) text += "; " + trials.sentence;
  if (decision.over_budget) {
    text += inputs.policy.goal == wire::PlanGoal::time_budget
                ? fmt::format(
                      "; the remaining {} rounds do not fit into the remaining {}, "
                      "and this is the fastest choice",
                      inputs.policy.rounds_left, time_text(inputs.policy.budget_s))
                : fmt::format(
                      "; the bytes that are left today do not suffice even for the "
                      "smallest choice, so rounds pause for {}",
                      time_text(decision.pause_s));
  }
  return text;
}

}  // namespace

std::string_view name(PlanTrigger trigger) {
  switch (trigger) {
    case PlanTrigger::none:
      return "none";
    case PlanTrigger::first:
      return "first";
    case PlanTrigger::impossible:
      return "impossible";
    case PlanTrigger::membership:
      return "membership";
    case PlanTrigger::link:
      return "link";
    case PlanTrigger::cost:
      return "cost";
    case PlanTrigger::gain:
      return "gain";
    case PlanTrigger::exploring:
      return "exploring";
  }
  return "unknown";
}

// In descending order of urgency; the first that applies is the reason in the journal. A choice
// stays for dwell_rounds rounds, except if it is impossible or agents have come or left.
PlanTrigger trigger_of(const PlanInputs& inputs, const PlanPredictor& predictor) {
  if (!inputs.before) return PlanTrigger::first;
  const PlanBefore& before = *inputs.before;
  const std::optional<PlanOption> now = standing(inputs, predictor);
  if (!now) return PlanTrigger::impossible;
  if (before.agents != inputs.agents.size()) return PlanTrigger::membership;
  if (before.rounds < inputs.policy.dwell_rounds) return PlanTrigger::none;
  const double share = inputs.policy.link_change;
  if (changed(predictor.slowest_link(), before.link, share) ||
      changed(predictor.peers(), before.peers, share)) {
    return PlanTrigger::link;
  }
  if (changed_ratios(inputs, predictor)) return PlanTrigger::link;
  if (changed(now->cost.exchange_s, before.exchange_s, share)) return PlanTrigger::cost;
  const bool gain = changed(now->cost.gain, before.gain, inputs.policy.gain_change) ||
                    codec_with_other_gain(inputs, predictor);
  return gain ? PlanTrigger::gain : PlanTrigger::none;
}

Result<PlanDecision> decide(const PlanInputs& inputs, const PlanSearchOptions& options) {
  TRIBUTARY_TRY(check(inputs));
  // A pure function of its inputs: the same inputs give the same decision on every machine, so a
  // decision can be repeated from the journal.
  const PlanPredictor predictor(inputs);
  const std::optional<PlanOption> now = standing(inputs, predictor);
  PlanDecision decision = {.trigger = trigger_of(inputs, predictor)};
  const Better better(inputs.policy);
  if (decision.trigger == PlanTrigger::none) {
    decision.chosen = *now;
  } else {
    decision.options = pareto_set(inputs, predictor, options);
    // Options are ordered by round time, and max_element returns the first of equal ones: the
    // fastest.
    const auto best = std::ranges::max_element(
        decision.options, [&](const PlanOption& a, const PlanOption& b) { return better(b, a); });
    const bool stays = now && !better.clearly(*best, *now);
    decision.chosen = stays ? *now : *best;
  }
  decision.switched = !now || decision.chosen.choice != now->choice;
  decision.over_budget = !within_budget(inputs.policy, decision.chosen);
  decision.pause_s = pause_for(inputs.policy, decision.chosen);
  const PlanChoice& choice = decision.chosen.choice;
  decision.ratios = predictor.ratios(*find_codec(inputs, choice), choice.collective, choice.ratio,
                                     choice.bucket_values);
  // A codec is worth a trial only if it would clearly replace the choice at its best possible gain.
  PlanTrials trials = trials_of(inputs, predictor, decision.chosen, [&](const PlanOption& option) {
    return better.clearly(option, decision.chosen);
  });
  if (decision.trigger == PlanTrigger::none && !trials.specs.empty()) {
    decision.trigger = PlanTrigger::exploring;
  }
  decision.reason = sentence(decision, now, inputs, predictor, trials);
  decision.trials = std::move(trials.specs);
  decision.trial_s = trials.seconds;
  return decision;
}

PlanBefore in_force(const PlanDecision& decision, const PlanInputs& inputs,
                    const PlanPredictor& predictor) {
  const PlanOption& chosen = decision.chosen;
  std::map<std::string, double> gains = believed_gains(inputs, predictor);
  // A decision that only asks for trials leaves the choice as it was, with the values that it was
  // made by. Otherwise a slow drift would never add up to a change.
  if (decision.trigger == PlanTrigger::exploring && inputs.before) {
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
          .gains = std::move(gains)};
}

}  // namespace tributary
