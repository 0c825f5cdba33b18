#include "dashboard/plot/layers/band_layout.h"

#include <algorithm>
#include <cmath>

namespace tributary::dashboard {

std::vector<BandRect> band_rects(std::span<const Stretch> stretches, const AxisMap& x,
                                 const QRectF& strip) {
  std::vector<BandRect> rects;
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    double left = x.pixel(stretches[i].x_low);
    double right = x.pixel(stretches[i].x_high);
    // A log axis has no position for 0 or less: such a stretch starts at the left edge.
    if (std::isnan(left)) left = strip.left();
    if (!(right > strip.left())) continue;
    if (left >= strip.right()) break;
    left = std::max(left, strip.left());
    right = std::min(std::max(right, left + 1), strip.right());
    const QRectF rect(left, strip.top(), right - left, strip.height());
    const bool same_pixel =
        !rects.empty() && std::floor(rects.back().rect.left()) == std::floor(left);
    if (!same_pixel) {
      rects.push_back({rect, i});
    } else if (rect.width() > rects.back().rect.width()) {
      rects.back() = {rect, i};
    }
  }
  return rects;
}

}  // namespace tributary::dashboard
