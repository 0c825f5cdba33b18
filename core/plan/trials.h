// Exploring: which codecs agents are to try on their own updates, when, and for how long. Of codecs
// with a ratio a histogram tells what gets through, for all ratios and in every round; of the
// others only made-up values do, until agents have tried them
// (core/round/common/plan/codec_trials.h).
//
// What is tried is what might be chosen: a codec that would not be even if it let everything
// through is left alone. That errs on the hopeful side, as whoever explores should: a codec that is
// believed to be worse than it is would otherwise stay so.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/plan/search/search.h"

namespace tributary {

struct PlanTrials {
  std::vector<std::string> specs = {};  // PlanCodec::spec; what matters most comes first
  double seconds = 0;                   // that an agent may take for them
  std::string sentence = {};            // what is tried, and why now
};

inline constexpr std::size_t kPlanTrialsMax = 8;
inline constexpr double kPlanTrialSecondsMax = 1;

// `chosen` is how rounds go on; `better` says of an option whether it would clearly be chosen
// instead. Nothing is tried where the policy gives no time for it, or has given it a moment ago.
PlanTrials trials_of(const PlanInputs& inputs, const PlanPredictor& predictor,
                     const PlanOption& chosen,
                     const std::function<bool(const PlanOption&)>& better);

// By spec, of codecs without a ratio: PlanBefore::gains. Empty where nobody explores.
std::map<std::string, double> believed_gains(const PlanInputs& inputs,
                                             const PlanPredictor& predictor);

// The first codec that lets another share through than was believed when the choice in force was
// made. Null: none.
const PlanCodec* codec_with_other_gain(const PlanInputs& inputs, const PlanPredictor& predictor);

}  // namespace tributary
