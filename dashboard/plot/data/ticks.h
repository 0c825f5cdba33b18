// Ticks as Qt's text (core/run/units/axis_ticks.h).
#pragma once

#include <QString>
#include <vector>

#include "core/run/units/axis_ticks.h"

namespace tributary::dashboard {

struct Ticks {
  std::vector<double> at;
  std::vector<QString> labels;  // as many
  std::vector<double> minor;    // without labels, between them
  QString unit;  // of the labels, for the axis's name; empty where each label has its own
};

Ticks ticks_for(Unit unit, Extent range, bool log, int wanted, double utc_offset_seconds = 0);

// "Bytes up (MB)".
QString axis_label(const QString& name, const Ticks& ticks);

}  // namespace tributary::dashboard
