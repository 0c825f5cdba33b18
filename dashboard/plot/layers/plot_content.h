// The content of one view, and what follows from it alone: the ranges that it covers, the entries
// of its legend, the keys that have colours.
//
// The functions cost what there are of curves, bars and stretches, and of a curve's samples no more
// than a look at its pyramid (Series). Threads: that of whoever appends to the series.
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

struct PlotContent {
  std::vector<PlotCurve> curves = {};
  std::vector<Band> bands = {};
  std::vector<Bars> bars = {};
  std::vector<GanttRow> rows = {};
};

// What the content covers; nothing if it has no sample, bar, stretch or moment.
std::optional<Extent> x_extent(const PlotContent& content);

// Grows with every change of a series.
std::uint64_t revision(const PlotContent& content);

struct YFit {
  Extent x = {};           // what is in sight
  bool log = false;        // the range lies above 0
  bool from_zero = false;  // the range begins at 0, if no value is below it; bars do so always
};

// The y range with all that is shown in `fit.x`, and some room around it. Rows of a Gantt chart
// have 1 each, from 0.
Extent fitted_y(const PlotContent& content, const YFit& fit,
                FunctionRef<bool(const QString& key)> shown);

// An entry for each curve, then for each set of bars, then for each kind of stretch; kinds have
// none if they are too many. `spans`: the rows of a Gantt chart are among the stretches.
std::vector<LegendEntry> legend_entries(const PlotContent& content, bool spans);

// Takes the slot of every key of the content into `slots_of_keys`.
void look_up_colours(const PlotContent& content, ColourSlots& colours,
                     std::map<QString, std::size_t>& slots_of_keys);

}  // namespace tributary::dashboard
