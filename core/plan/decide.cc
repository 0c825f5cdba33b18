#include "core/plan/decide.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/plan/inputs/prior.h"
#include "core/plan/reason.h"
#include "core/plan/search/down_weight.h"
#include "core/plan/trials.h"

namespace tributary {
namespace {

constexpr double kGainFloor = 1e-9;  // the logarithm of the gain stays finite
constexpr double kRoundFloor_s = 1e-9;
// Rounds before a choice can be left again, because a decision takes effect one round late.
constexpr double kTriedRounds = 2;
constexpr double kKeptRoundsMin = 20;
constexpr double kTriedError = 0.045;  // of their mean, a logarithm
// A switch costs as much as this time without progress: connections begin slowly.
constexpr double kSwitch_s = 0.3;
// The choice in force, with its cost according to the current inputs. Empty if it can no longer be
// used.
std::optional<PlanOption> standing(const PlanInputs& inputs, const PlanPredictor& predictor) {
  if (!inputs.before) return {};
  const PlanChoice& choice = inputs.before->choice;
  const PlanCodec* codec = find_codec(inputs, choice);
  if (!codec || !predictor.allowed(*codec, choice.collective)) return {};
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
    in_world.cost.round_s = predictor.compute_s() + predictor.beyond_training_s(prepared, world);
    logs.push_back(knee_score(in_world, inputs.policy.gain_weight));
  }
  return logs;
}

// The terms by which the value of a switch is judged.
struct Horizon {
  double rounds = kTriedRounds;  // until links change or the job ends
  double margin = 0;             // improvement for which a choice is kept, a logarithm
  double least = 0;              // value that a switch must have
};

// Rounds by the choice in force until the belief expects other links. Long rounds count as if links
// stayed for longer, because otherwise nothing would ever be worth a trial.
Horizon horizon_of(const PlanInputs& inputs, const PlanOption& now) {
  const double round_s = std::max(now.cost.round_s, kRoundFloor_s);
  const double left = static_cast<double>(inputs.policy.rounds_left);
  const double margin = std::log1p(inputs.policy.hysteresis);
  return {.rounds = std::max(kTriedRounds,
                             std::min(std::max(kLinksStay_s / round_s, kKeptRoundsMin), left)),
          .margin = margin,
          .least = kSwitch_s / round_s + kTriedRounds * margin};
}

// The value of choosing an option instead of another one, in logarithms of progress times rounds.
// The option is used for a few rounds in any case. Their times tell the worlds apart, and in those
// that remain possible the option is kept until the horizon if it is then better by the margin.
double value_of(const std::vector<double>& option, const std::vector<double>& other,
                const Horizon& horizon) {
  const std::size_t count = option.size();
  double mean = 0;
  double kept = 0;
  for (std::size_t truth = 0; truth < count; ++truth) {
    mean += option[truth] - other[truth];
    double weights = 0;
    double sum = 0;
    for (std::size_t world = 0; world < count; ++world) {
      const double off = (option[truth] - option[world]) / kTriedError;
      const double weight = std::exp(-off * off / 2);
      weights += weight;
      sum += weight * (option[world] - other[world]);
    }
    kept += std::max(sum / weights - horizon.margin, 0.0);
  }
  return (kTriedRounds * mean + (horizon.rounds - kTriedRounds) * kept) /
         static_cast<double>(count);
}

// The options that a decision over the worlds compares. The first one is the one that all others
// are compared with.
struct Weighing {
  std::vector<WeighedOption> options = {};
  double least = 0;  // value that a switch must have
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
  Horizon horizon = horizon_of(inputs, *base);
  if (!stays)
    horizon.margin = horizon.least = 0;  // the choice that stays is a candidate like others
  Weighing weighing = {.options = {{.option = *base}}, .least = horizon.least};
  for (const PlanOption& option : options) {
    if (!eligible(option) || option.choice == base->choice) continue;
    weighing.options.push_back(
        {.option = option,
         .value = value_of(paces(inputs, predictor, option), base_paces, horizon)});
  }
  return weighing;
}

// Returns the choice with the greatest value over the belief; `now` stays unless a switch pays.
PlanOption best_over_worlds(const PlanInputs& inputs, const PlanPredictor& predictor,
                            const std::optional<PlanOption>& now,
                            const std::vector<PlanOption>& options) {
  const Weighing weighing = weigh(inputs, predictor, now, options);
  const WeighedOption* best = &weighing.options.front();
  double most = weighing.least;
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
  decision.reason = reason_sentence(decision, now, inputs, predictor, trials);
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
