// Where an axis has its lines and what stands beside them.
#pragma once

#include <QString>
#include <vector>

#include "core/run/series/series.h"
#include "dashboard/plot/data/quantity.h"

namespace tributary::dashboard {

struct Ticks {
  std::vector<double> at;
  std::vector<QString> labels;  // as many
  std::vector<double> minor;    // without labels, between them
  QString unit;  // of the labels, for the axis's name; empty where each label has its own
};

// About `wanted` of them within the range: at multiples of 1, 2 or 5, at powers where `log`, and at
// round moments of the day where the unit is wall time, which is then `utc_offset_seconds` ahead of
// UTC. None for a range that is empty or not finite.
Ticks ticks_for(Unit unit, Extent range, bool log, int wanted, double utc_offset_seconds = 0);

// "Bytes up (MiB)".
QString axis_label(const QString& name, const Ticks& ticks);

}  // namespace tributary::dashboard
