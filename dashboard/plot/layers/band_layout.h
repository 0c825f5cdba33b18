// Converts stretches of x to rectangles in a strip. A pure function. Its result has at most as many
// rectangles as the strip has pixels, whatever the number of stretches.
#pragma once

#include <QRectF>
#include <cstddef>
#include <span>
#include <vector>

#include "dashboard/plot/data/axis_map.h"
#include "dashboard/plot/data/plot_data.h"

namespace tributary::dashboard {

// The visible rectangle of one stretch.
struct BandRect {
  QRectF rect;
  std::size_t stretch = 0;  // index of the stretch
};

// Returns the rectangles of the stretches (in ascending order of x) that lie in the strip. It
// returns at most one per pixel: of stretches that start in the same pixel, the longest one.
std::vector<BandRect> band_rects(std::span<const Stretch> stretches, const AxisMap& x,
                                 const QRectF& strip);

}  // namespace tributary::dashboard
