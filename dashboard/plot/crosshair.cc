#include "dashboard/plot/crosshair.h"

#include <cmath>

namespace tributary::dashboard {

std::vector<CrosshairValue> values_near(std::span<const PlotCurve> curves, double x, double reach) {
  std::vector<CrosshairValue> values;
  for (const PlotCurve& curve : curves) {
    if (!curve.series) continue;
    const auto sample = curve.series->nearest(x);
    if (!sample || std::fabs(sample->x - x) > reach) continue;
    values.push_back({curve.key, *sample});
  }
  return values;
}

}  // namespace tributary::dashboard
