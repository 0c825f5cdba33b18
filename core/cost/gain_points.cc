#include "core/cost/gain_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tributary {
namespace {

double between(double x, double x0, double y0, double x1, double y1) {
  return x1 > x0 ? y0 + (y1 - y0) * (x - x0) / (x1 - x0) : y1;
}

Status wrong(std::string_view what, std::string_view expected, double got) {
  return Status(StatusCode::invalid_argument, {.what = std::string(what),
                                               .expected = std::string(expected),
                                               .got = fmt::format("{}", got)});
}

}  // namespace

double GainPoints::at(double ratio) const {
  ratio = std::clamp(ratio, 0.0, 1.0);
  if (!known()) return ratio;
  // Below the first point the curve is linear in the ratio itself, because the logarithm has no
  // value at 0.
  if (ratio <= ratios.front()) return gains.front() * ratio / ratios.front();
  const auto above = std::ranges::upper_bound(ratios, ratio);
  const auto i = static_cast<std::size_t>(above - ratios.begin());
  const double x = std::log(ratio);
  if (above == ratios.end()) {
    return between(x, std::log(ratios.back()), gains.back(), 0, 1);
  }
  return between(x, std::log(ratios[i - 1]), gains[i - 1], std::log(ratios[i]), gains[i]);
}

Status check(const GainPoints& points) {
  if (points.ratios.size() != points.gains.size()) {
    return Status(StatusCode::invalid_argument,
                  {.what = "a gain curve",
                   .expected = "as many gains as ratios",
                   .got = fmt::format("{} and {}", points.gains.size(), points.ratios.size())});
  }
  double ratio = 0;
  double gain = 0;
  for (std::size_t i = 0; i < points.ratios.size(); ++i) {
    if (!(points.ratios[i] > ratio && points.ratios[i] <= 1)) {
      return wrong("a gain curve's ratio", "ascending, above 0 and at most 1", points.ratios[i]);
    }
    if (!(points.gains[i] >= gain && points.gains[i] <= 1)) {
      return wrong("a gain curve's gain", "from 0 to 1, and not falling", points.gains[i]);
    }
    ratio = points.ratios[i];
    gain = points.gains[i];
  }
  return {};
}

GainPoints joint_gain(std::span<const GainPoints> agents, std::span<const double> energies) {
  GainPoints joint;
  double energy = 0;
  std::size_t known = 0;
  for (std::size_t i = 0; i < agents.size(); ++i) {
    if (!agents[i].known()) continue;
    ++known;
    energy += energies[i];
    // The first agent's ratios are the joint ones; the others' curves are evaluated at them.
    if (joint.ratios.empty()) joint.ratios = agents[i].ratios;
  }
  if (known == 0) return joint;
  joint.gains.assign(joint.ratios.size(), 0);
  for (std::size_t i = 0; i < agents.size(); ++i) {
    if (!agents[i].known()) continue;
    const double share = energy > 0 ? energies[i] / energy : 1.0 / static_cast<double>(known);
    for (std::size_t k = 0; k < joint.ratios.size(); ++k) {
      joint.gains[k] += share * agents[i].at(joint.ratios[k]);
    }
  }
  for (double& gain : joint.gains) gain = std::min(gain, 1.0);  // rounding may exceed 1
  return joint;
}

void smooth(GainPoints& known, const GainPoints& fresh, double share) {
  if (known.ratios != fresh.ratios) {
    known = fresh;
    return;
  }
  for (std::size_t i = 0; i < known.gains.size(); ++i) {
    known.gains[i] += share * (fresh.gains[i] - known.gains[i]);
  }
}

}  // namespace tributary
