#include "coordinator/plan_lines.h"

#include <cmath>
#include <limits>

namespace tributary {
namespace {

constexpr double kLineUnknown = std::numeric_limits<double>::quiet_NaN();

double trusted(const LinkQuantity& quantity) {
  return quantity.confidence >= kPlannedConfidence ? quantity.value : kLineUnknown;
}

// NaN where neither is known.
double greater(double one, double other) { return std::fmax(one, other); }

}  // namespace

PlanLines plan_lines(const LinkFigures& figures, const std::vector<std::string>& agents,
                     double now_s) {
  PlanLines lines = {
      .agents = {}, .peer_alpha_s = kLineUnknown, .peer_beta_s_per_byte = kLineUnknown};
  for (const std::string& id : agents) {
    const MeasuredWays ways = figures.ways(id);
    lines.agents[id] = {.alpha_s = greater(trusted(ways.up.alpha_s), trusted(ways.down.alpha_s)),
                        .beta_s_per_byte = trusted(ways.up.beta_s_per_byte),
                        .down_beta_s_per_byte = trusted(ways.down.beta_s_per_byte)};
  }
  if (agents.size() > kPairedAgentsMax) return lines;
  for (const std::string& from : agents) {
    for (const std::string& to : agents) {
      if (from == to) continue;
      const MeasuredLink pair = figures.pairs().measured(from, to, now_s);
      lines.peer_alpha_s = greater(lines.peer_alpha_s, trusted(pair.alpha_s));
      lines.peer_beta_s_per_byte =
          greater(lines.peer_beta_s_per_byte, trusted(pair.beta_s_per_byte));
    }
  }
  return lines;
}

}  // namespace tributary
