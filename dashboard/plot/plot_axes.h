// The axes of one view: the ranges in sight, their scales, and which values lie at which pixels.
//
// The x axis is the group's, and is linear where it has the time of a calendar. The y axis is the
// view's own: its range fits what is shown, unless it was zoomed. The y axis of a Gantt chart has
// rows; it is neither zoomed nor logarithmic. Every zoom is a step of the group's history and
// leaves live; zooms with the same gesture, which is not 0, are one step.
//
// Pixels are those of the view. They belong to what was painted last, so a person who points at a
// pixel means what is seen there. Threads: that of the widgets.
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
  // The axes write the scene's ranges and scales. `view` is the view's number in its group. All
  // that is passed must outlive the axes.
  PlotAxes(Scene& scene, const PlotCanvas& canvas, SharedXAxis& shared, std::uint64_t view);

  Extent x_range() const { return shared_.range(); }
  Extent y_range() const;
  bool log_x() const;
  void set_log_x(bool on);  // of the whole group
  bool log_y() const;
  void set_log_y(bool on);

  void zoom_to(Extent x, std::optional<Extent> y);
  void zoom_to_frame(const DragFrame& frame);
  // A factor below 1 shows less of x, of y or of both; the value at `pixel` stays there.
  void zoom_about(QPointF pixel, double factor, bool x, bool y, std::uint64_t gesture = 0);
  // By shares of the ranges in sight.
  void pan(double x_share, double y_share, std::uint64_t gesture = 0);

  QRect data_rect() const;
  QPointF pixel_of(double x, double y) const;
  double x_at(double pixel) const;

  // Takes the group's range over and fits y, for the next painting.
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
