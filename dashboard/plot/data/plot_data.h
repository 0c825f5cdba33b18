// The content that a plot can show. A series is shared with its producer, which must be in the same
// thread.
//
// Plain values without behaviour. A plot copies them, except for the samples of a series: the
// producer may append to those while a plot shows them, but must not change earlier ones. Series
// must be sorted by x; gaps have y = NaN.
#pragma once

#include <QString>
#include <memory>
#include <vector>

#include "core/run/series/series.h"
#include "dashboard/plot/data/quantity.h"

namespace tributary::dashboard {

using SharedSeries = std::shared_ptr<const Series>;

// One curve, with its optional band and raw values.
struct PlotCurve {
  QString key = {};         // unique among the curves of a plot
  QString name = {};        // for the legend
  QString colour_key = {};  // key of the colour within a group; empty: `key`
  bool pale = false;        // the second curve with this colour key
  SharedSeries series = {};
  // The values of which `series` is the moving average, drawn faintly behind it.
  SharedSeries raw = {};
  SharedSeries low = {};   // lower and upper bound of a band around the curve
  SharedSeries high = {};  //
  // Values for texts and tables, if the curve is stacked on others. Null: `series`.
  SharedSeries own = {};
};

// An interval of x in which a setting was in force: a codec, a ratio, a collective.
struct Stretch {
  double x_low = 0;
  double x_high = 0;
  QString label = {};
  QString colour_key = {};   // key of the colour; empty: `label`
  QString short_label = {};  // for too little room
  bool named = false;        // whether the name determines the colour (name_colours.h)
};

inline const SharedSeries& displayed_series(const PlotCurve& curve) {
  return curve.own ? curve.own : curve.series;
}

inline const QString& colour_key_of(const PlotCurve& curve) {
  return curve.colour_key.isEmpty() ? curve.key : curve.colour_key;
}

inline const QString& key_of(const Stretch& stretch) {
  return stretch.colour_key.isEmpty() ? stretch.label : stretch.colour_key;
}

// One strip of stretches above the curves, in ascending order of x; or the background of the whole
// plot.
struct Band {
  QString name = {};
  std::vector<Stretch> stretches = {};
  bool behind = false;
};

// One bar from x_low to x_high, with the height y.
struct Bar {
  double x_low = 0;
  double x_high = 0;
  double y = 0;
};

// A histogram or a density. Several are drawn semi-transparently over one another.
struct Bars {
  QString key = {};
  QString name = {};
  std::vector<Bar> bars = {};
};

// A time at which something failed in a row: a retry, a fallback.
struct GanttMoment {
  double x = 0;
  QString text = {};
};

// One row of a Gantt chart. Rows are numbered from the top.
struct GanttRow {
  QString name = {};
  std::vector<Stretch> spans = {};
  std::vector<double> marks = {};  // x of deadlines
  bool late = false;               // a straggler, whose name is highlighted
  std::vector<GanttMoment> moments = {};
};

// The name of an axis without its unit, because the SI prefix depends on the visible values.
struct AxisText {
  QString name = {};
  Unit unit = Unit::one;
};

// The texts and axes of a plot.
struct PlotOptions {
  QString title = {};
  AxisText x = {"Round", Unit::count};
  AxisText y = {};
  QString empty_text = {};  // hint while the plot is empty
  bool y_from_zero = false;
  bool spans_in_legend = true;  // false: the rows of a Gantt chart already show the names
};

}  // namespace tributary::dashboard
