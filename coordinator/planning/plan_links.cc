#include "coordinator/planning/plan_links.h"

#include <cmath>
#include <limits>
#include <optional>

namespace tributary {
namespace {

// Least confidence of a latency below kShort_s.
constexpr double kShortConfidence = 0.05;
constexpr double kShort_s = 0.01;
// Relative error of the current rate of a link that two payloads showed to be much slower.
constexpr double kPresentError = 0.1;
constexpr double kLineUnknown = std::numeric_limits<double>::quiet_NaN();

double trusted(const LinkQuantity& quantity) {
  return quantity.confidence >= kPlannedConfidence ? quantity.value : kLineUnknown;
}

// Queues only increase a measured latency. A value below the assumed latency is therefore closer to
// the truth, even with few readings.
double trusted_latency(const LinkQuantity& quantity) {
  const bool less = quantity.confidence >= kShortConfidence && quantity.value < kShort_s;
  return less ? quantity.value : trusted(quantity);
}

// Payloads of few bytes show no rate. The times of their rounds tell the planner more.
double rate(const MeasuredLink& link, bool of_few) {
  return of_few ? kLineUnknown : link.beta_s_per_byte.value;
}

// Returns the greater known value; NaN if neither is known.
double greater(double one, double other) { return std::fmax(one, other); }

}  // namespace

PlanLinks plan_links(const LinkFigures& figures, const std::vector<std::string>& agents,
                     double now_s) {
  PlanLinks links = {
      .agents = {}, .peer_alpha_s = kLineUnknown, .peer_beta_s_per_byte = kLineUnknown};
  for (const std::string& id : agents) {
    const MeasuredLinks measured = figures.measured_links(id);
    links.agents[id] = {
        .alpha_s =
            greater(trusted_latency(measured.up.alpha_s), trusted_latency(measured.down.alpha_s)),
        .beta_s_per_byte = rate(measured.up, figures.rate_of_few(LinkDirection::up, id)),
        .down_beta_s_per_byte = rate(measured.down, figures.rate_of_few(LinkDirection::down, id)),
        .beta_error = relative_error(measured.up.beta_s_per_byte.confidence),
        .down_beta_error = relative_error(measured.down.beta_s_per_byte.confidence)};
    if (const std::optional<double> now = figures.slower_now(id)) {
      links.agents[id].beta_s_per_byte = *now;
      links.agents[id].beta_error = kPresentError;
    }
  }
  if (agents.size() > kPairedAgentsMax) return links;
  for (const std::string& from : agents) {
    for (const std::string& to : agents) {
      if (from == to) continue;
      const MeasuredLink pair = figures.pairs().measured(from, to, now_s);
      links.peer_alpha_s = greater(links.peer_alpha_s, trusted(pair.alpha_s));
      links.peer_beta_s_per_byte =
          greater(links.peer_beta_s_per_byte, trusted(pair.beta_s_per_byte));
    }
  }
  return links;
}

}  // namespace tributary
