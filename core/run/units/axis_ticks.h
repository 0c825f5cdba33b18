// Computes the positions and labels of axis ticks, for all pictures of runs. All functions are
// pure.
//
// No function fails: a range that is empty or not finite gives no ticks.
#pragma once

#include <string>
#include <vector>

#include "core/run/units/extent.h"
#include "core/run/units/quantity.h"

namespace tributary {

// Ticks with a label each, in no particular order, and minor ticks without labels.
struct AxisTicks {
  std::vector<double> at;           // values in the base unit
  std::vector<std::string> labels;  // one per tick
  std::vector<double> minor;        // ticks without labels, between the others
  std::string unit;  // unit of the labels, for the axis title; empty if each label has its own unit
};

// About `ticks_goal` ticks within the range: at multiples of 1, 2 or 5; at powers of ten if `log`;
// at round times of day if the unit is wall time, whose local time is `utc_offset_s` ahead of UTC.
// Empty for a range that is empty or not finite.
AxisTicks axis_ticks(Unit unit, Extent range, bool log, int ticks_goal, double utc_offset_s = 0);

// A range that contains all of `data` and ends at round numbers, or at powers of ten if `log`. It
// always has a width: data of zero width are extended, and data that are not finite (or not
// positive if `log`) give a default range.
Extent round_range(Unit unit, Extent data, bool log, int ticks_goal);

}  // namespace tributary
