#include "core/plan/trials.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

namespace tributary {
namespace {

// Bound on the rounds whose unused trial time accumulates.
constexpr std::uint64_t kTrialCreditRoundsMax = 50;
// A change of the updates allows a trial this many times earlier than elapsed time alone does.
constexpr std::uint64_t kTrialChangesEach = 5;
// If agents never answer, the interval between requests doubles, up to this many times.
constexpr std::uint64_t kTrialDoublingsMax = 6;

enum class TrialReason : std::uint8_t { never, updates_changed, long_ago };

struct TrialCandidate {
  const PlanCodec* codec = nullptr;
  TrialReason reason = TrialReason::never;
  std::uint64_t rounds = 0;  // since the last trial
  double distance = 0;       // from the choice: |ln| of the ratio of the round times
};

bool differs(double one, double other, double share) {
  const double least = std::min(one, other);
  return least > 0 ? std::max(one, other) / least > 1 + share : one != other;
}

std::optional<TrialReason> reason_to_try(const PlanInputs& inputs, const PlanPredictor& predictor,
                                         const PlanTried* tried) {
  if (!tried) return TrialReason::never;
  const std::uint64_t soon = inputs.policy.trial_rounds / kTrialChangesEach;
  if (tried->rounds >= soon &&
      differs(predictor.curve_gain(), tried->curve_gain, inputs.policy.gain_change)) {
    return TrialReason::updates_changed;
  }
  if (tried->rounds >= inputs.policy.trial_rounds) return TrialReason::long_ago;
  return {};
}

// By the collective that is quickest with it, in the buckets of the choice. Nothing if a plan may
// not choose it.
std::optional<PlanOption> quickest_by(const PlanCodec& codec, const PlanPredictor& predictor,
                                      const PlanChoice& choice) {
  std::optional<PlanOption> quickest;
  for (const wire::Collective kind : kCollectives) {
    if (!predictor.allowed(codec, kind)) continue;
    PlanOption option = {.choice = make_choice(codec, kind, 1, choice.bucket_values),
                         .cost = predictor.cost(codec, kind, 1, choice.bucket_values)};
    if (!quickest || option.cost.round_s < quickest->cost.round_s) quickest = std::move(option);
  }
  return quickest;
}

std::vector<TrialCandidate> candidates(const PlanInputs& inputs, const PlanPredictor& predictor,
                                       const PlanOption& chosen,
                                       const std::function<bool(const PlanOption&)>& better) {
  std::vector<TrialCandidate> all;
  for (const PlanCodec& codec : inputs.codecs) {
    // A lossless codec needs no trial.
    if (codec.family != PlanFamily::fixed || codec.gain == 1) continue;
    const auto tried = std::ranges::find(inputs.tried, codec.spec, &PlanTried::spec);
    const PlanTried* const known = tried == inputs.tried.end() ? nullptr : &*tried;
    const std::optional<TrialReason> reason = reason_to_try(inputs, predictor, known);
    if (!reason) continue;
    // The optimistic case: the quickest collective and a gain of 1. A codec that would not replace
    // the choice even then is not tried.
    std::optional<PlanOption> hopeful = quickest_by(codec, predictor, chosen.choice);
    if (!hopeful) continue;
    hopeful->cost.gain = 1;
    if (codec.spec != chosen.choice.codec && !better(*hopeful)) continue;
    all.push_back({.codec = &codec,
                   .reason = *reason,
                   .rounds = known ? known->rounds : 0,
                   .distance = std::abs(std::log(std::max(hopeful->cost.round_s, 1e-9) /
                                                 std::max(chosen.cost.round_s, 1e-9)))});
  }
  // Codecs near the choice come first, because they are the most likely to replace it.
  std::ranges::stable_sort(all, {}, [](const TrialCandidate& candidate) {
    return std::pair(candidate.reason, candidate.distance);
  });
  if (all.size() > kPlanTrialsMax) all.resize(kPlanTrialsMax);
  return all;
}

std::string because(const TrialCandidate& first) {
  switch (first.reason) {
    case TrialReason::never:
      return "because these codecs were not tried yet";
    case TrialReason::updates_changed:
      return "because the updates changed since the last trial";
    case TrialReason::long_ago:
      return fmt::format("because the last trial was {} rounds ago", first.rounds);
  }
  return {};
}

}  // namespace

PlanTrials trials_of(const PlanInputs& inputs, const PlanPredictor& predictor,
                     const PlanOption& chosen,
                     const std::function<bool(const PlanOption&)>& better) {
  const PlanPolicy& policy = inputs.policy;
  // Requests that agents never answer become rare.
  const std::uint64_t doublings = std::min(inputs.asked_in_vain, kTrialDoublingsMax);
  const std::uint64_t pause = std::max<std::uint64_t>(policy.dwell_rounds, 1) << doublings;
  if (!(policy.exploring_share > 0) || inputs.rounds_unasked < pause) return {};
  PlanTrials trials;
  const std::vector<TrialCandidate> found = candidates(inputs, predictor, chosen, better);
  for (const TrialCandidate& candidate : found) trials.specs.push_back(candidate.codec->spec);
  if (found.empty()) return {};
  // The time for trials is the set share of the time of all rounds since the last request.
  const auto rounds = static_cast<double>(std::min(inputs.rounds_unasked, kTrialCreditRoundsMax));
  trials.seconds =
      std::min(policy.exploring_share * rounds * chosen.cost.round_s, kPlanTrialSecondsMax);
  trials.sentence = fmt::format("agents try {} on their updates, {}", fmt::join(trials.specs, ", "),
                                because(found.front()));
  return trials;
}

std::map<std::string, double> believed_gains(const PlanInputs& inputs,
                                             const PlanPredictor& predictor) {
  std::map<std::string, double> gains;
  if (!(inputs.policy.exploring_share > 0)) return gains;
  for (const PlanCodec& codec : inputs.codecs) {
    if (codec.family == PlanFamily::fixed) gains[codec.spec] = predictor.fixed_gain(codec);
  }
  return gains;
}

const PlanCodec* codec_with_other_gain(const PlanInputs& inputs, const PlanPredictor& predictor) {
  if (!inputs.before) return nullptr;
  for (const PlanCodec& codec : inputs.codecs) {
    const auto before = inputs.before->gains.find(codec.spec);
    if (before == inputs.before->gains.end() || codec.family != PlanFamily::fixed) continue;
    // A gain below the policy's minimum is not chosen, so differences below it do not matter.
    const double now = std::max(predictor.fixed_gain(codec), inputs.policy.gain_min);
    const double then = std::max(before->second, inputs.policy.gain_min);
    if (differs(now, then, inputs.policy.gain_change)) return &codec;
  }
  return nullptr;
}

}  // namespace tributary
