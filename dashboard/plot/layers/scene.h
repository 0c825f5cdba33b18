// The complete state of one plot, which its layers read.
//
// Each part has one writer: the view writes content, colours and crosshair; PlotAxes the ranges;
// PlotInput the frame; the canvas the layout. A view owns the scene, which outlives all objects
// that refer to it. Threads: the GUI thread.
#pragma once

#include <QRectF>
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "dashboard/plot/data/axis_map.h"
#include "dashboard/plot/data/crosshair.h"
#include "dashboard/plot/data/palette.h"
#include "dashboard/plot/data/plot_data.h"
#include "dashboard/plot/data/ticks.h"
#include "dashboard/plot/layers/legend.h"
#include "dashboard/plot/layers/plot_content.h"

namespace tributary::dashboard {

struct Scene {
  PlotOptions options = {};
  PlotContent content = {};
  Legend legend = {};
  std::map<QString, std::size_t> slots_of_keys = {};
  PlotColours colours = {};

  Extent x = {0, 1};
  Extent y = {0, 1};
  bool log_x = false;
  bool log_y = false;

  std::optional<double> crosshair = {};
  std::vector<CrosshairValue> values = {};
  std::optional<QRectF> frame = {};  // of a zoom in progress
  bool focused = false;
  bool exporting = false;  // an export shows no keyboard focus
  bool nothing = true;     // no content: a text instead of axes

  // Computed by the canvas in its layout, like the positions of the legend's entries.
  Ticks x_ticks = {};
  Ticks y_ticks = {};
  QString y_name_above = {};  // name and unit of a y axis that is too low for them
  double title_height = 0;
  double strip_height = 0;

  bool shown(const QString& key) const { return legend.shown(key); }
  QColor colour(const QString& key) const {
    const auto slot = slots_of_keys.find(key);
    return slot_colour(slot == slots_of_keys.end() ? 0 : slot->second, colours.dark);
  }
  QColor colour(const Stretch& stretch) const { return colour(key_of(stretch)); }
  AxisMap x_map(const QRectF& rect) const { return {x, rect.left(), rect.right(), log_x}; }
  AxisMap y_map(const QRectF& rect) const { return {y, rect.bottom(), rect.top(), log_y}; }
};

}  // namespace tributary::dashboard
