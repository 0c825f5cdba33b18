// What a picture can show. Series are shared with those that fill them, in the same thread.
#pragma once

#include <QString>
#include <memory>
#include <vector>

#include "core/run/series/series.h"
#include "dashboard/plot/data/quantity.h"

namespace tributary::dashboard {

using SharedSeries = std::shared_ptr<const Series>;

struct PlotCurve {
  QString key = {};         // of one picture's curves no two have the same
  QString name = {};        // in the legend
  QString colour_key = {};  // what has one colour in a whole group; the key where it is empty
  SharedSeries series = {};
  SharedSeries raw = {};   // drawn faintly behind, where `series` is its moving average
  SharedSeries low = {};   // with `high`: a band around the curve
  SharedSeries high = {};  //
  // What is told of it in words and tables, where it is drawn on top of others.
  SharedSeries own = {};
};

// A stretch of x in which something held: a codec, a ratio, a collective.
struct Stretch {
  double x_low = 0;
  double x_high = 0;
  QString label = {};
  QString colour_key = {};   // as of a curve; the label where it is empty
  QString short_label = {};  // where the label has no room
  bool named = false;        // its colour goes by its name: the same in every run (name_colours.h)
};

inline const SharedSeries& told_of(const PlotCurve& curve) {
  return curve.own ? curve.own : curve.series;
}

inline const QString& colour_key_of(const PlotCurve& curve) {
  return curve.colour_key.isEmpty() ? curve.key : curve.colour_key;
}

inline const QString& key_of(const Stretch& stretch) {
  return stretch.colour_key.isEmpty() ? stretch.label : stretch.colour_key;
}

// One strip of them, in order of x, above the curves; or the whole picture's background.
struct Band {
  QString name = {};
  std::vector<Stretch> stretches = {};
  bool behind = false;
};

struct Bar {
  double x_low = 0;
  double x_high = 0;
  double y = 0;
};

// A histogram or a density. Several are drawn over one another, half transparent.
struct Bars {
  QString key = {};
  QString name = {};
  std::vector<Bar> bars = {};
};

// A moment at which something went wrong in a row: a retry, a fallback.
struct GanttMoment {
  double x = 0;
  QString text = {};
};

// One row of a Gantt chart; rows are numbered from the top.
struct GanttRow {
  QString name = {};
  std::vector<Stretch> spans = {};
  std::vector<double> marks = {};  // a deadline
  bool late = false;               // a straggler: its name is marked
  std::vector<GanttMoment> moments = {};
};

// An axis's name without its unit, which follows from the numbers in sight.
struct AxisText {
  QString name = {};
  Unit unit = Unit::one;
};

struct PlotOptions {
  QString title = {};
  AxisText x = {"Round", Unit::count};
  AxisText y = {};
  QString empty_text = {};  // what to do while there is nothing to show
  bool y_from_zero = false;
  bool spans_in_legend = true;  // false: the rows of a Gantt chart have their names already
};

}  // namespace tributary::dashboard
