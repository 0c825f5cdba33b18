#include "dashboard/plot/data/quantity.h"

#include <QDateTime>
#include <cmath>

namespace tributary::dashboard {
namespace {

double utc_offset_s(double moment) {
  // Beyond this QDateTime has no offset, and NaN compares false.
  if (!(std::fabs(moment) < 1e12)) return 0;
  return QDateTime::fromSecsSinceEpoch(static_cast<qint64>(moment)).offsetFromUtc();
}

}  // namespace

Scale scale_for(Unit unit, double largest) {
  const UnitScale scale = unit_scale(unit, largest);
  return {scale.size, QString::fromStdString(scale.name)};
}

QString base_unit(Unit unit) { return QString::fromStdString(base_unit_name(unit)); }

QString text_of(Unit unit, double value) {
  const double offset = unit == Unit::wall_time ? utc_offset_s(value) : 0;
  return QString::fromStdString(quantity_text(unit, value, offset));
}

QString plain_number(double value, int decimals) {
  return QString::fromStdString(number_text(value, decimals));
}

}  // namespace tributary::dashboard
