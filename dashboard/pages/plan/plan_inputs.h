// Lists the inputs of a decision: the observations, and the planner's own inputs as stored in the
// plan.
//
// Inputs come from a file and may contain anything; no function fails.
#pragma once

#include <QString>
#include <string>
#include <vector>

#include "core/run/round_detail.h"

namespace tributary::dashboard {

struct PlanInput {
  std::string name = {};  // "agents agent-1: alpha"
  std::string value = {};
  std::string about = {};  // observer and age
};

inline constexpr std::size_t kPlanInputsMax = 2000;

// Returns at most kPlanInputsMax inputs; one more line states how many were left out. Inputs that
// are not valid JSON become a single line.
std::vector<PlanInput> plan_inputs_of(const RoundDetail& detail);

// Formats a number according to the suffix of its name: seconds as "10 ms", a time per byte as a
// rate.
QString input_value(const QString& name, double value);

}  // namespace tributary::dashboard
