// What the curves say at one x.
#pragma once

#include <QString>
#include <optional>
#include <span>
#include <vector>

#include "dashboard/plot/data/plot_data.h"

namespace tributary::dashboard {

struct CrosshairValue {
  QString key = {};
  Sample sample = {};  // the nearest one; a gap has y = NaN
  double told = 0;     // what it is said to be: of a curve that stands on others its own share
};

// The nearest sample of every curve that has one no further from x than `reach`, in their order.
std::vector<CrosshairValue> values_near(std::span<const PlotCurve> curves, double x, double reach);

}  // namespace tributary::dashboard
