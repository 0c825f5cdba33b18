#include "core/plan/search/down_weight.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/plan/search/agent_ratios.h"

namespace tributary {
namespace {

constexpr std::string_view kRated = "thc:rate=";
constexpr std::string_view kWeight = ",down_weight=";
// Outside of these weights the bits of sums do not change much any more.
constexpr double kWeightLog2Max = 3;
constexpr double kChangeLog2 = 0.75;

}  // namespace

bool takes_down_weight(std::string_view spec) {
  return spec.starts_with(kRated) && spec.find(kWeight) == std::string_view::npos;
}

double down_weight_of(const PlanInputs& inputs, const PlanChoice& choice) {
  if (!takes_down_weight(choice.codec) || choice.collective != wire::Collective::star) return 1;
  AgentLink slowest;
  for (const PlanAgent& agent : inputs.agents) {
    const AgentLink link = link_of(agent);
    slowest = {.up = std::max(slowest.up, link.up), .down = std::max(slowest.down, link.down)};
  }
  const double exact = std::log2(slowest.down / slowest.up);
  // Without agents both are 0.
  if (std::isnan(exact)) return 1;
  const double log2 = std::clamp(exact, -kWeightLog2Max, kWeightLog2Max);
  if (inputs.before && inputs.before->choice == choice) {
    const double before = inputs.before->down_weight;
    if (std::abs(log2 - std::log2(before)) <= kChangeLog2) return before;
  }
  return std::exp2(std::round(log2));
}

std::string with_down_weight(std::string spec, double weight) {
  if (weight != 1) spec += fmt::format("{}{}", kWeight, weight);
  return spec;
}

std::string without_down_weight(std::string spec) {
  if (spec.starts_with(kRated)) spec.resize(std::min(spec.find(kWeight), spec.size()));
  return spec;
}

}  // namespace tributary
