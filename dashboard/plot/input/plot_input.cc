#include "dashboard/plot/input/plot_input.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <optional>

#include "dashboard/plot/input/drag_frame.h"
#include "dashboard/plot/layers/scene.h"
#include "dashboard/plot/plot_axes.h"
#include "dashboard/plot/plot_canvas.h"
#include "dashboard/plot/plot_group.h"

namespace tributary::dashboard {
namespace {

constexpr double kClickPixels = 4;    // greatest movement of the pointer during a click
constexpr double kWheelFactor = 0.8;  // per notch
// units of QWheelEvent::angleDelta() per notch
constexpr double kWheelNotch = 120;
constexpr double kPanShare = 0.1;
constexpr double kKeyZoom = 0.7;

// A new number makes the next zoom a step of its own in the history.
std::uint64_t next_gesture() {
  static std::uint64_t last = 0;  // only the GUI thread uses it
  return ++last;
}

double distance(QPointF a, QPointF b) { return std::hypot(a.x() - b.x(), a.y() - b.y()); }

}  // namespace

PlotInput::PlotInput(PlotCanvas& canvas, Scene& scene, PlotAxes& axes, PlotGroup& group)
    : canvas_(canvas), scene_(scene), axes_(axes), group_(group) {
  canvas_.installEventFilter(this);
}

bool PlotInput::eventFilter(QObject* watched, QEvent* event) {
  if (watched != &canvas_) return QObject::eventFilter(watched, event);
  switch (event->type()) {
    case QEvent::MouseButtonPress:
      return mouse_pressed(*static_cast<QMouseEvent*>(event));
    case QEvent::MouseMove:
      return mouse_moved(*static_cast<QMouseEvent*>(event));
    case QEvent::MouseButtonRelease:
      return mouse_released(*static_cast<QMouseEvent*>(event));
    case QEvent::MouseButtonDblClick:
      return mouse_double_clicked(*static_cast<QMouseEvent*>(event));
    case QEvent::Wheel:
      return wheel_turned(*static_cast<QWheelEvent*>(event));
    // Hovering pauses live mode, but only while new data may arrive; otherwise the badge would
    // change for a finished run.
    case QEvent::Enter:
      group_.x_axis().hover(group_.x_axis().following());
      return false;
    case QEvent::Leave:
      pointer_left();
      return false;
    default:
      return false;
  }
}

bool PlotInput::mouse_pressed(const QMouseEvent& event) {
  canvas_.setFocus(Qt::MouseFocusReason);  // its focus proxy, the view, receives the keys
  const bool left = event.button() == Qt::LeftButton;
  const bool pans =
      event.button() == Qt::MiddleButton || (left && event.modifiers().testFlag(Qt::ShiftModifier));
  if (!left && !pans) return false;
  drag_ = {.kind = pans ? Drag::Kind::pan : Drag::Kind::frame,
           .from = event.position(),
           .last = event.position(),
           .gesture = next_gesture()};
  return true;
}

bool PlotInput::mouse_moved(const QMouseEvent& event) {
  const QPointF at = event.position();
  const QRectF rect = axes_.data_rect();
  // During a drag the crosshair stays, although the pointer may leave the data.
  if (rect.contains(at) && !scene_.nothing) {
    group_.point_at(axes_.x_at(at.x()));
  } else if (drag_.kind == Drag::Kind::none) {
    group_.point_at(std::nullopt);
  }
  if (drag_.kind == Drag::Kind::none || scene_.nothing || !rect.contains(drag_.from)) return true;
  drag_.moved = drag_.moved || distance(at, drag_.from) >= kClickPixels;
  if (!drag_.moved) return true;
  if (drag_.kind == Drag::Kind::frame) {
    scene_.frame = drag_frame(drag_.from, at, rect).rect;
    emit frame_changed();
  } else {
    const QPointF step = at - drag_.last;
    axes_.pan(-step.x() / rect.width(), step.y() / rect.height(), drag_.gesture);
  }
  drag_.last = at;
  return true;
}

// The frame is evaluated at the release, so that a drag ends where the button was released.
bool PlotInput::mouse_released(const QMouseEvent& event) {
  const Drag drag = drag_;
  end_drag();
  if (drag.kind == Drag::Kind::none) return true;
  if (!drag.moved) {
    clicked(event.position(), event.modifiers().testFlag(Qt::ControlModifier));
  } else if (drag.kind == Drag::Kind::frame) {
    axes_.zoom_to_frame(drag_frame(drag.from, event.position(), axes_.data_rect()));
  }
  return true;
}

// A double click is preceded by a press, which has started a drag.
bool PlotInput::mouse_double_clicked(const QMouseEvent& event) {
  drag_.kind = Drag::Kind::none;
  if (axes_.data_rect().contains(event.position().toPoint())) group_.x_axis().fit();
  return true;
}

void PlotInput::end_drag() {
  drag_.kind = Drag::Kind::none;
  scene_.frame.reset();
  emit frame_changed();
}

// With Ctrl, one more entry is hidden or shown; without it, the entry is isolated.
void PlotInput::clicked(QPointF pixel, bool one_more) {
  if (const LegendEntry* entry = scene_.legend.entry_at(pixel)) {
    const QString key = entry->key;
    one_more ? scene_.legend.toggle(key) : scene_.legend.isolate(key);
    return;
  }
  const QRectF rect = axes_.data_rect();
  if (!rect.contains(pixel) || scene_.nothing) return;
  // A click locks the range, so that the clicked point does not move away with new data.
  group_.x_axis().lock();
  const double x = axes_.x_at(pixel.x());
  emit x_clicked(x);
  if (scene_.content.rows.empty()) return;
  const double share = (pixel.y() - rect.top()) / rect.height();
  const auto rows = static_cast<int>(scene_.content.rows.size());
  emit row_clicked(std::clamp(static_cast<int>(share * rows), 0, rows - 1), x);
}

bool PlotInput::wheel_turned(const QWheelEvent& event) {
  if (scene_.nothing || !QRectF(axes_.data_rect()).contains(event.position())) return false;
  // With Alt pressed, some platforms report a horizontal turn of the wheel.
  const QPoint turn = event.angleDelta();
  const double notches = (turn.y() != 0 ? turn.y() : turn.x()) / kWheelNotch;
  if (notches == 0) return true;
  // Turns at another position start a new step, because they zoom about another value.
  if (wheel_.gesture == 0 || distance(event.position(), wheel_.at) > kClickPixels) {
    wheel_ = {.gesture = next_gesture(), .at = event.position()};
  }
  const bool along_y = event.modifiers().testFlag(Qt::ControlModifier);
  axes_.zoom_about(event.position(), std::pow(kWheelFactor, notches), !along_y, along_y,
                   wheel_.gesture);
  return true;
}

// A drag continues outside the widget, because Qt sends its moves here until the release.
void PlotInput::pointer_left() {
  group_.x_axis().hover(false);
  if (drag_.kind == Drag::Kind::none) group_.point_at(std::nullopt);
}

bool PlotInput::key_pressed(const QKeyEvent& event) {
  return zoom_key(event) || crosshair_key(event) || legend_key(event);
}

bool PlotInput::zoom_key(const QKeyEvent& event) {
  const bool control = event.modifiers().testFlag(Qt::ControlModifier);
  const bool shift = event.modifiers().testFlag(Qt::ShiftModifier);
  SharedXAxis& x_axis = group_.x_axis();
  switch (event.key()) {
    case Qt::Key_Backspace:
      shift ? x_axis.redo() : x_axis.undo();
      return true;
    case Qt::Key_Z:
      if (!control) return false;
      shift ? x_axis.redo() : x_axis.undo();
      return true;
    case Qt::Key_Y:
      if (control) x_axis.redo();
      return control;
    case Qt::Key_Home:
      x_axis.fit();
      return true;
    case Qt::Key_End:
    case Qt::Key_Space:
      x_axis.go_live();
      return true;
    case Qt::Key_Left:
      axes_.pan(-kPanShare, 0);
      return true;
    case Qt::Key_Right:
      axes_.pan(kPanShare, 0);
      return true;
    case Qt::Key_Up:
      axes_.pan(0, kPanShare);
      return true;
    case Qt::Key_Down:
      axes_.pan(0, -kPanShare);
      return true;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      zoom_by_key(kKeyZoom, control);
      return true;
    case Qt::Key_Minus:
    case Qt::Key_Underscore:
      zoom_by_key(1 / kKeyZoom, control);
      return true;
    case Qt::Key_L:
      shift ? axes_.set_log_x(!x_axis.is_log()) : axes_.set_log_y(!axes_.log_y());
      return true;
    default:
      return false;
  }
}

// Zooms about the crosshair if it is set, as a wheel would.
void PlotInput::zoom_by_key(double factor, bool along_y) {
  const QRectF rect = axes_.data_rect();
  QPointF about = rect.center();
  if (group_.crosshair()) {
    const double at = scene_.x_map(rect).pixel(*group_.crosshair());
    if (at >= rect.left() && at <= rect.right()) about.setX(at);
  }
  axes_.zoom_about(about, factor, !along_y, along_y);
}

bool PlotInput::crosshair_key(const QKeyEvent& event) {
  switch (event.key()) {
    case Qt::Key_BracketLeft:
      step_crosshair(-1);
      return true;
    case Qt::Key_BracketRight:
      step_crosshair(1);
      return true;
    case Qt::Key_Escape:
      if (!group_.crosshair() && drag_.kind == Drag::Kind::none) return false;
      end_drag();
      group_.point_at(std::nullopt);
      return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (!group_.crosshair()) return false;
      group_.x_axis().lock();
      emit x_clicked(*group_.crosshair());
      return true;
    case Qt::Key_Question:
      emit help_requested();
      return true;
    default:
      return false;
  }
}

// Moves to the next sample of the first visible curve, starting at the crosshair or in the middle.
void PlotInput::step_crosshair(int steps) {
  const Extent x = axes_.x_range();
  const auto curve = std::ranges::find_if(scene_.content.curves, [this](const PlotCurve& each) {
    return each.series && !each.series->empty() && scene_.shown(each.key);
  });
  if (curve == scene_.content.curves.end()) return;
  const QRectF rect = axes_.data_rect();
  const AxisMap map = scene_.x_map(rect);
  const double from = group_.crosshair().value_or(map.value(rect.center().x()));
  // Searches a sample in another pixel. For dense samples that is the next pixel.
  for (double pixel = map.pixel(from) + steps;; pixel += steps) {
    const double at = map.value(pixel);
    if (!(at >= x.low && at <= x.high)) return;
    const auto sample = curve->series->nearest(at);
    if ((sample->x - from) * steps > 0 && sample->x >= x.low && sample->x <= x.high) {
      group_.point_at(sample->x);
      return;
    }
  }
}

bool PlotInput::legend_key(const QKeyEvent& event) {
  const int key = event.key();
  if (key == Qt::Key_0) {
    scene_.legend.show_all();
    return true;
  }
  if (key < Qt::Key_1 || key > Qt::Key_9) return false;
  const auto index = static_cast<std::size_t>(key - Qt::Key_1);
  if (index >= scene_.legend.entries().size()) return false;
  const QString which = scene_.legend.entries()[index].key;
  const bool one_more = event.modifiers().testFlag(Qt::ControlModifier);
  one_more ? scene_.legend.toggle(which) : scene_.legend.isolate(which);
  return true;
}

}  // namespace tributary::dashboard
