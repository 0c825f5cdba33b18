// The content of one view, and what is derived from it: the covered ranges, the legend entries, and
// the keys with colours.
//
// The functions take time proportional to the number of curves, bars and stretches. They do not
// read a curve's samples one by one, only its pyramid (Series). Threads: the thread that appends to
// the series.
#pragma once

#include <QString>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/base/function_ref.h"
#include "dashboard/plot/data/palette.h"
#include "dashboard/plot/data/plot_data.h"
#include "dashboard/plot/layers/legend.h"

namespace tributary::dashboard {

// Everything that a view shows. Kinds that a view does not use stay empty.
struct PlotContent {
  std::vector<PlotCurve> curves = {};
  std::vector<Band> bands = {};
  std::vector<Bars> bars = {};
  std::vector<GanttRow> rows = {};
};

// Returns the x range of the content; empty if it has no sample, bar, stretch or moment.
std::optional<Extent> x_extent(const PlotContent& content);

// Increases with every change of a series.
std::uint64_t revision(const PlotContent& content);

// The conditions for the y range.
struct YFit {
  Extent x = {};           // visible x range
  bool log = false;        // the range must be above 0
  bool from_zero = false;  // start at 0 unless a value is below it; always the case for bars
};

// Returns a y range with a margin that contains everything shown in `fit.x`. Each row of a Gantt
// chart has height 1, starting at 0.
Extent fitted_y(const PlotContent& content, const YFit& fit,
                FunctionRef<bool(const QString& key)> shown);

// Returns an entry for each curve, then for each set of bars, then for each kind of stretch. Too
// many kinds of stretch get no entries. `spans`: include the rows of a Gantt chart.
std::vector<LegendEntry> legend_entries(const PlotContent& content, bool spans);

// Stores the colour slot of every key of the content in `slots_of_keys`.
void look_up_colours(const PlotContent& content, ColourSlots& colours,
                     std::map<QString, std::size_t>& slots_of_keys);

}  // namespace tributary::dashboard
