// The gain ||C(g)||² / ||g||² of keeping a share of an update's values, at a few shares.
//
// An agent reports these points from its histogram (core/codec/sparse/gain.h). A plan uses one
// curve for all agents. All functions are pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/status.h"

namespace tributary {

struct GainPoints {
  std::vector<double> ratios;  // shares of values, ascending, above 0 and at most 1
  std::vector<double> gains;   // gain at each ratio; does not decrease

  bool known() const { return !ratios.empty(); }
  // Returns the gain at `ratio`, interpolated linearly over the logarithm of the ratio. The curve
  // leads to (0, 0) below the first point and to (1, 1) above the last. Without points it is the
  // ratio itself, which is the gain of values of equal size.
  double at(double ratio) const;

  friend bool operator==(const GainPoints&, const GainPoints&) = default;
};

// Returns invalid_argument if lengths, order or bounds are wrong, or if gains decrease.
Status check(const GainPoints& points);

// Returns one curve for all agents. Each agent's gain is weighted by its part in the energy of the
// sum. `energies` are those of the weighted updates; if none is above 0, all agents have equal
// weight.
GainPoints joint_gain(std::span<const GainPoints> agents, std::span<const double> energies);

// Moves `known` by `share` of the distance to `fresh`. If `known` is empty or has other ratios, it
// becomes `fresh`.
void smooth(GainPoints& known, const GainPoints& fresh, double share);

}  // namespace tributary
