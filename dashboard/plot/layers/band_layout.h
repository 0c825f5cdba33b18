// From stretches of x to rectangles of a strip.
#pragma once

#include <QRectF>
#include <cstddef>
#include <span>
#include <vector>

#include "dashboard/plot/data/axis_map.h"
#include "dashboard/plot/data/plot_data.h"

namespace tributary::dashboard {

struct BandRect {
  QRectF rect;
  std::size_t stretch = 0;  // which one
};

// What of the stretches, which are in order of x, lies in the strip. No more rectangles than
// pixels: of those that begin in the same pixel the longest is drawn.
std::vector<BandRect> band_rects(std::span<const Stretch> stretches, const AxisMap& x,
                                 const QRectF& strip);

}  // namespace tributary::dashboard
