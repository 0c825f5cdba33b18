#include "dashboard/plot/data/crosshair.h"

#include <cmath>

namespace tributary::dashboard {

std::vector<CrosshairValue> values_near(std::span<const PlotCurve> curves, double x, double reach) {
  std::vector<CrosshairValue> values;
  for (const PlotCurve& curve : curves) {
    if (!curve.series) continue;
    const auto sample = curve.series->nearest(x);
    // A curve without a sample near the crosshair has no value there, for example in a gap.
    if (!sample || std::fabs(sample->x - x) > reach) continue;
    // The dot of a stacked curve stands on top of its layer, and its value is the curve's own
    // share.
    const auto displayed = displayed_series(curve)->nearest(sample->x);
    values.push_back({curve.key, *sample, displayed ? displayed->y : sample->y});
  }
  return values;
}

}  // namespace tributary::dashboard
