// Handles mouse, wheel and keys of a view: zooming and panning its axes, moving the group's
// crosshair, selecting in the legend, and clicks. Every mouse action also has a key
// (docs/dashboard.md).
//
// It filters the events of the canvas; the view passes on its keys. Threads: the GUI thread.
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
  // It writes only the drag frame of the scene, and hides and shows legend entries. All arguments
  // must outlive the object.
  PlotInput(PlotCanvas& canvas, Scene& scene, PlotAxes& axes, PlotGroup& group);

  bool key_pressed(const QKeyEvent& event);  // returns false for a key without a meaning here

 signals:
  void x_clicked(double x);             // a click, not a drag
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
    bool moved = false;         // farther than a click allows
    std::uint64_t gesture = 0;  // a whole pan is one step of the history
  };
  struct Wheel {
    std::uint64_t gesture = 0;  // wheel turns at one position are one step of the history
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
