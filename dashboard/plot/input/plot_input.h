// What the mouse, the wheel and the keys do to a view: they zoom and pan its axes, move the group's
// crosshair, choose from the legend and report clicks. All that the mouse does has a key
// (docs/dashboard.md).
//
// It filters the events of the canvas; the view passes its keys on. Threads: that of the widgets.
#pragma once

#include <QObject>
#include <QPointF>
#include <cstdint>

class QKeyEvent;
class QMouseEvent;
class QWheelEvent;

namespace tributary::dashboard {

class PlotAxes;
class PlotCanvas;
class PlotGroup;
struct Scene;

class PlotInput : public QObject {
  Q_OBJECT

 public:
  // Of the scene, it writes the frame of a drag and asks the legend to hide and show. All that is
  // passed must outlive it.
  PlotInput(PlotCanvas& canvas, Scene& scene, PlotAxes& axes, PlotGroup& group);

  bool key_pressed(const QKeyEvent& event);  // false: the key means nothing here

 signals:
  void x_clicked(double x);             // a click that was no drag
  void row_clicked(int row, double x);  // in a Gantt chart
  void help_requested();
  void frame_changed();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  struct Drag {
    enum class Kind : std::uint8_t { none, frame, pan };

    Kind kind = Kind::none;
    QPointF from = {};
    QPointF last = {};
    bool moved = false;         // far enough to be no click
    std::uint64_t gesture = 0;  // a pan is one step of the history
  };
  struct Wheel {
    std::uint64_t gesture = 0;  // turns at one place are one step of the history
    QPointF at = {};
  };

  bool mouse_pressed(const QMouseEvent& event);
  bool mouse_moved(const QMouseEvent& event);
  bool mouse_released(const QMouseEvent& event);
  bool mouse_double_clicked(const QMouseEvent& event);
  bool wheel_turned(const QWheelEvent& event);
  void pointer_left();
  void clicked(QPointF pixel, bool one_more);
  void end_drag();
  bool zoom_key(const QKeyEvent& event);
  bool crosshair_key(const QKeyEvent& event);
  bool legend_key(const QKeyEvent& event);
  void step_crosshair(int steps);
  void zoom_by_key(double factor, bool along_y);

  PlotCanvas& canvas_;
  Scene& scene_;
  PlotAxes& axes_;
  PlotGroup& group_;
  Drag drag_;
  Wheel wheel_;
};

}  // namespace tributary::dashboard
