// Quantities as Qt strings (core/run/units/quantity.h). All functions are pure. Reports and the
// dashboard thus write the same number in the same way.
#pragma once

#include <QString>

#include "core/run/units/quantity.h"

namespace tributary::dashboard {

// The divisor of a number and the unit after it, as UnitScale.
struct Scale {
  double size = 1;
  QString name = {};
};

Scale scale_for(Unit unit, double largest);
QString base_unit(Unit unit);
// Wall time is shown in the local time zone.
QString text_of(Unit unit, double value);
QString plain_number(double value, int decimals);

}  // namespace tributary::dashboard
