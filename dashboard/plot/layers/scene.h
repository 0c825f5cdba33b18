// All that one picture consists of, as its layers read it: made by the view, painted by the layers.
#pragma once

#include <QPointF>
#include <QRectF>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "dashboard/plot/data/axis_map.h"
#include "dashboard/plot/data/crosshair.h"
#include "dashboard/plot/data/palette.h"
#include "dashboard/plot/data/plot_data.h"
#include "dashboard/plot/data/ticks.h"

namespace tributary::dashboard {

struct LegendEntry {
  QString key = {};
  QString name = {};
  QString value = {};
  QRectF rect = {};
};

struct Scene {
  PlotOptions options = {};
  std::vector<PlotCurve> curves = {};
  std::vector<Band> bands = {};
  std::vector<Bars> bars = {};
  std::vector<GanttRow> rows = {};
  std::set<QString> hidden = {};  // keys
  std::map<QString, std::size_t> slots_of_keys = {};
  PlotColours colours = {};

  Extent x = {0, 1};
  Extent y = {0, 1};
  bool log_x = false;
  bool log_y = false;

  std::optional<double> crosshair = {};
  std::vector<CrosshairValue> values = {};
  std::optional<QRectF> frame = {};  // of a zoom that is being dragged
  bool focused = false;
  bool exporting = false;  // a picture that goes into a file has no keyboard
  bool nothing = true;     // no sample anywhere: the sentence instead of axes

  // Filled by the canvas when it lays itself out.
  Ticks x_ticks = {};
  Ticks y_ticks = {};
  std::vector<LegendEntry> legend = {};
  QRectF legend_more = {};
  std::size_t legend_left_out = 0;
  double title_height = 0;
  double strip_height = 0;

  bool shown(const QString& key) const { return !hidden.contains(key); }
  QColor colour(const QString& key) const {
    const auto slot = slots_of_keys.find(key);
    return slot_colour(slot == slots_of_keys.end() ? 0 : slot->second, colours.dark);
  }
  QColor colour(const Stretch& stretch) const { return colour(key_of(stretch)); }
  AxisMap x_map(const QRectF& rect) const { return {x, rect.left(), rect.right(), log_x}; }
  AxisMap y_map(const QRectF& rect) const { return {y, rect.bottom(), rect.top(), log_y}; }
};

}  // namespace tributary::dashboard
