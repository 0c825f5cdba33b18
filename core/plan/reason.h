// Why a plan is as it is: what has changed since the last decision, and the sentence that says so.
//
// All functions are pure.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>

#include "core/plan/decide.h"
#include "core/plan/search/predict.h"
#include "core/plan/trials.h"

namespace tributary {

// Symmetric relative change. A change to or from 0 always counts.
bool changed(double now, double before, double share);

// The ratio that an agent has in force and the one that it would have now.
struct RatioChange {
  std::size_t agent = 0;
  double before = 0;
  double now = 0;

  double size() const { return std::abs(std::log(now / before)); }
};

// Returns the agent whose ratio would change most.
RatioChange greatest_ratio_change(const PlanInputs& inputs, const PlanPredictor& predictor);

bool down_weight_changed(const PlanInputs& inputs);

// The reason of `decision`. `standing` is the choice in force before it; empty if it is impossible
// or if there was none.
std::string reason_sentence(const PlanDecision& decision, const std::optional<PlanOption>& standing,
                            const PlanInputs& inputs, const PlanPredictor& predictor,
                            const PlanTrials& trials);

}  // namespace tributary
