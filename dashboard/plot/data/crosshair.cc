#include "dashboard/plot/data/crosshair.h"

#include <cmath>

namespace tributary::dashboard {

std::vector<CrosshairValue> values_near(std::span<const PlotCurve> curves, double x, double reach) {
  std::vector<CrosshairValue> values;
  for (const PlotCurve& curve : curves) {
    if (!curve.series) continue;
    const auto sample = curve.series->nearest(x);
    if (!sample || std::fabs(sample->x - x) > reach) continue;
    const auto displayed = displayed_series(curve)->nearest(sample->x);
    values.push_back({curve.key, *sample, displayed ? displayed->y : sample->y});
  }
  return values;
}

}  // namespace tributary::dashboard
