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

// Returns the rectangles of the stretches that lie in the strip. The stretches must be in ascending
// order of x. A rectangle is at least one pixel wide, so that a short stretch is
// visible. If several stretches start in one pixel, only the longest is shown.
std::vector<BandRect> band_rects(std::span<const Stretch> stretches, const AxisMap& x,
                                 const QRectF& strip);

}  // namespace tributary::dashboard
