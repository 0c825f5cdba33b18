// Exploration: decides which codecs agents try on their own updates, when, and for how long.
//
// For codecs with a ratio, a histogram gives the gain at all ratios in every round. For the other
// codecs only the gain on synthetic values is known until agents have tried them
// (core/round/common/plan/codec_trials.h).
//
// Only codecs that could be chosen are tried: a codec that would not be chosen even with a gain of
// 1 is left out. This is optimistic on purpose. A codec with an underestimated gain would otherwise
// never be measured. All functions are pure.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/plan/search/search.h"

namespace tributary {

// The trials to request; empty if none are due.
struct PlanTrials {
  std::vector<std::string> specs = {};  // PlanCodec::spec, the most important one first
  double seconds = 0;                   // time limit for an agent
  std::string sentence = {};            // for the operator: the codecs and the reason
};

inline constexpr std::size_t kPlanTrialsMax = 8;
inline constexpr double kPlanTrialSecondsMax = 1;

// Returns the trials for the next round. `chosen` is the choice of the next round. `better` returns
// whether an option would clearly be chosen instead. Returns nothing if the policy grants no time
// for trials or not enough time has passed since the last ones.
PlanTrials trials_of(const PlanInputs& inputs, const PlanPredictor& predictor,
                     const PlanOption& chosen,
                     const std::function<bool(const PlanOption&)>& better);

// Returns PlanBefore::gains: the assumed gain of each codec without a ratio, by spec. Empty if
// exploring is off.
std::map<std::string, double> believed_gains(const PlanInputs& inputs,
                                             const PlanPredictor& predictor);

// Returns the first codec whose gain differs from the one assumed when the choice in force was
// made, or null.
const PlanCodec* codec_with_other_gain(const PlanInputs& inputs, const PlanPredictor& predictor);

}  // namespace tributary
