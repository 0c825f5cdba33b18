// Where an axis has its lines and what stands beside them: for every picture of a run, whoever
// draws it.
#pragma once

#include <string>
#include <vector>

#include "core/run/units/extent.h"
#include "core/run/units/quantity.h"

namespace tributary {

struct AxisTicks {
  std::vector<double> at;           // values, not divided by the unit
  std::vector<std::string> labels;  // as many
  std::vector<double> minor;        // without labels, between them
  std::string unit;  // of the labels, for the axis's name; empty where each label has its own
};

// About `wanted` of them within the range: at multiples of 1, 2 or 5, at powers where `log`, and at
// round moments of the day where the unit is wall time, which is then `utc_offset_s` ahead of UTC.
// None for a range that is empty or not finite.
AxisTicks axis_ticks(Unit unit, Extent range, bool log, int wanted, double utc_offset_s = 0);

// A range that holds all of `data` and ends at round numbers, or at powers of ten where `log`. Data
// without a width get some room, and data that are not finite, or not above 0 where `log`, a range
// all the same.
Extent round_range(Unit unit, Extent data, bool log, int wanted);

}  // namespace tributary
