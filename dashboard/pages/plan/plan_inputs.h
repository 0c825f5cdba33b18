// What a choice was made from, line by line: what was observed, and the planner's inputs as they
// stand in the plan.
#pragma once

#include <QString>
#include <string>
#include <vector>

#include "core/run/round_detail.h"

namespace tributary::dashboard {

struct PlanInput {
  std::string name = {};  // "agents agent-1: alpha"
  std::string value = {};
  std::string about = {};  // who, and how old it is
};

inline constexpr std::size_t kPlanInputsMax = 2000;

// At most kPlanInputsMax; a last line says how many were left out. A text that is no JSON is one
// line.
std::vector<PlanInput> plan_inputs_of(const RoundDetail& detail);

// A number by what its name ends in: seconds as "10 ms", a time per byte as the rate that it is.
QString input_value(const QString& name, double value);

}  // namespace tributary::dashboard
