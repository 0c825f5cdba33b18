// Draws the panels of a figure. Internal to figure.cc.
//
// Pure, except for the drawing that they append to. The x axis is made once per figure, the y axis
// by each panel.
#pragma once

#include "cli/report/svg/drawing.h"
#include "cli/report/svg/figure.h"
#include "core/run/units/axis_ticks.h"
#include "core/run/units/quantity.h"

namespace tributary::report {

constexpr double kFigureWidth = 960;
constexpr double kPlotLeft = 74;
constexpr double kPlotRight = 946;

// Maps values to positions in pixels.
struct Axis {
  AxisTicks ticks = {};
  Unit unit = Unit::one;
  double low = 0;  // values at both ends
  double high = 1;
  double begin = 0;  // positions of both ends, in pixels
  double end = 1;
  bool log = false;

  double place(double value) const;
};

// Both functions draw from y downwards and return the y below the panel.
double draw_panel(Drawing& drawing, const LinePanel& panel, const Axis& x, double y);
double draw_panel(Drawing& drawing, const StripPanel& panel, const Axis& x, double y);

// Draws legend entries from the left, on as many lines as needed. Returns the y below them.
struct LegendEntry {
  std::string css_class = {};  // of the sample line
  std::string text = {};
  bool area = false;
};
double draw_legend(Drawing& drawing, const std::vector<LegendEntry>& entries, double left,
                   double y);

// Returns "s0" to "s5", then the same with " again". References use "ref" instead.
std::string colour_class(std::size_t colour);

}  // namespace tributary::report
