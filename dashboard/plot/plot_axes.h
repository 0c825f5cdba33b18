// The axes of one view: visible ranges, scales, and the conversion between values and pixels.
//
// The x axis belongs to the group, and is linear if it shows wall time. The y axis belongs to the
// view: its range fits the visible content unless it was zoomed. The y axis of a Gantt chart has
// rows; it can be neither zoomed nor logarithmic. Every zoom is a step in the group's history and
// ends live mode; zooms with the same gesture number (other than 0) are one step.
//
// Pixels are those of the view as it was last painted, because a user points at what is visible.
// Threads: the GUI thread.
#pragma once

#include <QObject>
#include <QPointF>
#include <QRect>
#include <cstdint>
#include <optional>

#include "core/run/units/extent.h"
#include "dashboard/plot/input/drag_frame.h"
#include "dashboard/plot/range/shared_x_axis.h"

namespace tributary::dashboard {

class PlotCanvas;
struct Scene;

class PlotAxes : public QObject {
  Q_OBJECT

 public:
  // The axes write the scene's ranges and scales. `view` is the number of the view in its group.
  // All arguments must outlive the axes.
  PlotAxes(Scene& scene, const PlotCanvas& canvas, SharedXAxis& shared, std::uint64_t view);

  Extent x_range() const { return shared_.range(); }
  Extent y_range() const;
  bool log_x() const;
  void set_log_x(bool on);  // for the whole group
  bool log_y() const;
  void set_log_y(bool on);

  // Zooms to these ranges. Without y, the y range continues to fit the content.
  void zoom_to(Extent x, std::optional<Extent> y);
  void zoom_to_frame(const DragFrame& frame);
  // A factor below 1 zooms in along x, y or both. The value at `pixel` keeps its position.
  void zoom_about(QPointF pixel, double factor, bool x, bool y, std::uint64_t gesture = 0);
  // Moves by shares of the visible ranges; a positive share moves towards larger values.
  void pan(double x_share, double y_share, std::uint64_t gesture = 0);

  QRect data_rect() const;
  QPointF pixel_of(double x, double y) const;
  double x_at(double pixel) const;

  // Applies the group's range and fits y, before painting.
  void update();

 signals:
  void log_y_changed(bool on);

 private:
  bool has_rows() const;

  Scene& scene_;
  const PlotCanvas& canvas_;
  SharedXAxis& shared_;
  std::uint64_t view_;
};

}  // namespace tributary::dashboard
