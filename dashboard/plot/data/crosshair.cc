#include "dashboard/plot/data/crosshair.h"

#include <cmath>

namespace tributary::dashboard {

std::vector<CrosshairValue> values_near(std::span<const PlotCurve> curves, double x, double reach) {
  std::vector<CrosshairValue> values;
  for (const PlotCurve& curve : curves) {
    if (!curve.series) continue;
    const auto sample = curve.series->nearest(x);
    if (!sample || std::fabs(sample->x - x) > reach) continue;
    const auto told = told_of(curve)->nearest(sample->x);
    values.push_back({curve.key, *sample, told ? told->y : sample->y});
  }
  return values;
}

}  // namespace tributary::dashboard
