// Axis ticks with Qt strings (core/run/units/axis_ticks.h). All functions are pure. Reports and the
// dashboard thus have the same axes.
#pragma once

#include <QString>
#include <vector>

#include "core/run/units/axis_ticks.h"

namespace tributary::dashboard {

// The ticks of one axis.
struct Ticks {
  std::vector<double> at;
  std::vector<QString> labels;  // one per tick
  std::vector<double> minor;    // positions between them, without labels
  QString unit;  // unit of the labels, for the axis's name; empty if each label has its own
};

// Returns about `ticks_goal` ticks at round values of the range.
Ticks ticks_for(Unit unit, Extent range, bool log, int ticks_goal, double utc_offset_seconds = 0);

// Returns the name with the unit: "Bytes up (MB)".
QString axis_label(const QString& name, const Ticks& ticks);

}  // namespace tributary::dashboard
