// The inputs of a plan as text: JSON, as it is stored beside every plan and as `tributary plan
// pareto` and `tributary plan replay` read it. Numbers come back exactly as they were; what is not
// known is null.
#pragma once

#include <string>
#include <string_view>

#include "core/plan/inputs/inputs.h"

namespace tributary {

inline constexpr std::size_t kPlanInputsBytesMax = 4u << 20;

std::string text_of(const PlanInputs& inputs);

// What is left out is as in a PlanInputs that nobody has filled. Keys that nobody knows are
// refused; what comes back has been checked.
Result<PlanInputs> parse_plan_inputs(std::string_view text);

}  // namespace tributary
