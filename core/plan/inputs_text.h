// The inputs of a plan as JSON text.
//
// This text is stored beside every plan, and `tributary plan pareto` and `tributary plan replay`
// read it. Numbers are written so that they read back exactly. An unknown number is null. Both
// functions are pure.
#pragma once

#include <string>
#include <string_view>

#include "core/plan/inputs/inputs.h"

namespace tributary {

// Bound on the length of a text that parse_plan_inputs() accepts.
inline constexpr std::size_t kPlanInputsBytesMax = 4u << 20;

// Writes the inputs as JSON.
std::string text_of(const PlanInputs& inputs);

// Parses and checks the inputs. A missing key keeps its default. An unknown key, a wrong type or a
// value out of bounds is an error.
Result<PlanInputs> parse_plan_inputs(std::string_view text);

}  // namespace tributary
