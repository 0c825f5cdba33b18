// How the panels of a figure are drawn. Inner part of figure.cc.
#pragma once

#include "cli/report/svg/drawing.h"
#include "cli/report/svg/figure.h"
#include "core/run/units/axis_ticks.h"
#include "core/run/units/quantity.h"

namespace tributary::report {

constexpr double kFigureWidth = 960;
constexpr double kPlotLeft = 74;
constexpr double kPlotRight = 946;

// From values to places in the picture.
struct Axis {
  AxisTicks ticks = {};
  Unit unit = Unit::one;
  double low = 0;  // the values at both ends
  double high = 1;
  double begin = 0;  // and their places
  double end = 1;
  bool log = false;

  double place(double value) const;
};

// Both draw from y downwards and give the place below.
double draw_panel(Drawing& drawing, const LinePanel& panel, const Axis& x, double y);
double draw_panel(Drawing& drawing, const StripPanel& panel, const Axis& x, double y);

// The entries of a legend from the left, on as many lines as they need; gives the place below.
struct LegendEntry {
  std::string css_class = {};  // of the sample
  std::string text = {};
  bool area = false;
};
double draw_legend(Drawing& drawing, const std::vector<LegendEntry>& entries, double left,
                   double y);

// "s0" to "s5", then "s0 again"; "ref" for what others are compared with.
std::string colour_class(std::size_t colour);

}  // namespace tributary::report
