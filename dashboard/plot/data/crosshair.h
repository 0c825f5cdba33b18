// Finds the values of all curves near the crosshair. A pure function: a binary search per curve.
// The series must not change during the call.
#pragma once

#include <QString>
#include <optional>
#include <span>
#include <vector>

#include "dashboard/plot/data/plot_data.h"

namespace tributary::dashboard {

// The value of one curve at the crosshair.
struct CrosshairValue {
  QString key = {};
  Sample sample = {};    // the nearest sample; a gap has y = NaN
  double displayed = 0;  // value to display; for a stacked curve, its own share
};

// Returns, for every curve with a sample within `reach` of x, the nearest one, in the order of the
// curves.
std::vector<CrosshairValue> values_near(std::span<const PlotCurve> curves, double x, double reach);

}  // namespace tributary::dashboard
