#include "core/plan/search/agent_ratios.h"

#include <algorithm>
#include <cmath>

#include "core/plan/inputs/prior.h"

namespace tributary {
namespace {

// The slowest rate: 1 kbit/s. It keeps costs finite for a link that reports no throughput.
constexpr double kBetaMax = 8e-3;

}  // namespace

AgentLink link_of(const PlanAgent& agent) {
  const double up =
      std::isnan(agent.beta_s_per_byte) ? std::exp(kRatePrior.mean) : agent.beta_s_per_byte;
  const double down = std::isnan(agent.down_beta_s_per_byte) ? up : agent.down_beta_s_per_byte;
  return {.up = std::min(up, kBetaMax), .down = std::min(down, kBetaMax)};
}

std::vector<double> agent_ratios(const PlanInputs& inputs, const RatioBytes& bytes) {
  std::vector<double> ups;
  for (const PlanAgent& agent : inputs.agents) ups.push_back(link_of(agent).up);
  // The lower median, so that with two agents the faster one sets the time.
  const auto middle = ups.begin() + static_cast<std::ptrdiff_t>((ups.size() - 1) / 2);
  std::ranges::nth_element(ups, middle);
  const double in_time_s = *middle * bytes.up;
  std::vector<double> ratios;
  bool alike = true;
  for (const PlanAgent& agent : inputs.agents) {
    const AgentLink link = link_of(agent);
    const double own_s = link.up * bytes.up;
    // The upload may take as long as the median agent's or as this agent's own download, whichever
    // is longer: a smaller ratio would not end the round earlier.
    const double allowed_s = std::max(in_time_s, link.down * bytes.down);
    // A smaller ratio needs a measured link and a difference beyond measurement error.
    const bool slow =
        !std::isnan(agent.beta_s_per_byte) && own_s > allowed_s * (1 + inputs.policy.link_change);
    const double share = slow ? allowed_s / own_s : 1;
    const double least = std::min(inputs.policy.ratio_min, bytes.ratio);
    ratios.push_back(std::max(bytes.ratio * share, least));
    alike &= ratios.back() == bytes.ratio;
  }
  // An empty result is the common case, and the plan then needs no list of ratios.
  return alike ? std::vector<double>() : ratios;
}

}  // namespace tributary
