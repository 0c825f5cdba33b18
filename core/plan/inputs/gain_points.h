// The gain ||C(g)||² / ||g||² of keeping a share of the values, at a few shares: what an agent
// reports from its histogram (core/codec/sparse/gain.h), and what is made of many of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/status.h"

namespace tributary {

struct GainPoints {
  std::vector<double> ratios;  // ascending, above 0 and at most 1
  std::vector<double> gains;   // as many; they do not fall

  bool known() const { return !ratios.empty(); }
  // Between two shares as a line over the logarithm of the share, towards (0, 0) below the first
  // and towards (1, 1) above the last. Nothing known: the share itself, as of values that are all
  // alike.
  double at(double ratio) const;

  friend bool operator==(const GainPoints&, const GainPoints&) = default;
};

// Lengths, order and bounds; gains that fall are an error, too.
Status check(const GainPoints& points);

// One curve for all: each agent's gain counts by its part in the sum's energy. `energies` are of
// the updates, weights folded in; where none is above 0, all count alike.
GainPoints joint_gain(std::span<const GainPoints> agents, std::span<const double> energies);

// Moves towards `fresh` by this share. At other ratios than before, or first: `fresh` alone.
void smooth(GainPoints& known, const GainPoints& fresh, double share);

}  // namespace tributary
