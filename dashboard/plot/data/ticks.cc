#include "dashboard/plot/data/ticks.h"

#include <utility>

namespace tributary::dashboard {

Ticks ticks_for(Unit unit, Extent range, bool log, int ticks_goal, double utc_offset_seconds) {
  AxisTicks found = axis_ticks(unit, range, log, ticks_goal, utc_offset_seconds);
  Ticks ticks = {.at = std::move(found.at),
                 .labels = {},
                 .minor = std::move(found.minor),
                 .unit = QString::fromStdString(found.unit)};
  for (const std::string& label : found.labels) {
    ticks.labels.push_back(QString::fromStdString(label));
  }
  return ticks;
}

QString axis_label(const QString& name, const Ticks& ticks) {
  if (ticks.unit.isEmpty()) return name;
  return name.isEmpty() ? ticks.unit : name + " (" + ticks.unit + ')';
}

}  // namespace tributary::dashboard
