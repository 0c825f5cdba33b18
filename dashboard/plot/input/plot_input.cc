// What mouse and keyboard mean.
#include <QFocusEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "dashboard/plot/input/drag_frame.h"
#include "dashboard/plot/plot_canvas.h"
#include "dashboard/plot/plot_drag.h"
#include "dashboard/plot/plot_view.h"

namespace tributary::dashboard {
namespace {

constexpr double kClickPixels = 4;    // what a hand moves while it clicks
constexpr double kWheelFactor = 0.8;  // per notch
constexpr double kWheelNotch = 120;
constexpr double kPanShare = 0.1;
constexpr double kKeyZoom = 0.7;

Extent zoomed(Extent range, double at, double factor, bool log) {
  if (log) {
    const double low = at * std::pow(range.low / at, factor);
    return {low, at * std::pow(range.high / at, factor)};
  }
  return {at - (at - range.low) * factor, at + (range.high - at) * factor};
}

Extent moved(Extent range, double share, bool log) {
  if (log) {
    const double factor = std::pow(range.high / range.low, share);
    return {range.low * factor, range.high * factor};
  }
  const double step = (range.high - range.low) * share;
  return {range.low + step, range.high + step};
}

std::uint64_t next_gesture() {
  static std::uint64_t last = 0;  // of this thread, which is the only one with widgets
  return ++last;
}

}  // namespace

void PlotView::zoom_to(Extent x, std::optional<Extent> y) {
  ZoomState state = group_->zoom();
  state.x = x;
  if (y) state.y[number_] = *y;
  group_->zoom_to(std::move(state));
}

void PlotView::zoom_steps(double factor, QPointF pixel, bool x, bool y, std::uint64_t gesture) {
  const QRectF rect = canvas_->data_rect();
  ZoomState state = group_->zoom();
  if (x) {
    const double at = scene_->x_map(rect).value(pixel.x());
    state.x = zoomed(group_->x_range(), at, factor, log_x());
  }
  if (y && scene_->rows.empty()) {
    const double at = scene_->y_map(rect).value(pixel.y());
    state.y[number_] = zoomed(scene_->y, at, factor, scene_->log_y);
  }
  group_->zoom_to(std::move(state), gesture);
}

void PlotView::zoom_about(QPointF pixel, double factor, bool x, bool y) {
  zoom_steps(factor, pixel, x, y, 0);
}

void PlotView::zoom_about_middle(double factor) {
  zoom_steps(factor, QRectF(canvas_->data_rect()).center(), true, false, 0);
}

void PlotView::pan(double x_share, double y_share) { pan_by(x_share, y_share, 0); }

void PlotView::pan_by(double x_share, double y_share, std::uint64_t gesture) {
  ZoomState state = group_->zoom();
  if (x_share != 0) state.x = moved(group_->x_range(), x_share, log_x());
  if (y_share != 0 && scene_->rows.empty()) {
    state.y[number_] = moved(scene_->y, y_share, scene_->log_y);
  }
  group_->zoom_to(std::move(state), gesture);
}

void PlotView::fit() { group_->fit(); }
bool PlotView::undo() { return group_->undo(); }
bool PlotView::redo() { return group_->redo(); }

bool PlotView::eventFilter(QObject* watched, QEvent* event) {
  if (watched != canvas_) return QWidget::eventFilter(watched, event);
  switch (event->type()) {
    case QEvent::MouseButtonPress:
      return mouse_pressed(*static_cast<QMouseEvent*>(event));
    case QEvent::MouseMove:
      return mouse_moved(*static_cast<QMouseEvent*>(event));
    case QEvent::MouseButtonRelease:
      return mouse_released(*static_cast<QMouseEvent*>(event));
    case QEvent::MouseButtonDblClick:
      drag_->kind = Drag::Kind::none;
      if (data_rect().contains(static_cast<QMouseEvent*>(event)->position().toPoint())) fit();
      return true;
    case QEvent::Wheel:
      return wheel_turned(*static_cast<QWheelEvent*>(event));
    case QEvent::Enter:
      group_->hover(group_->following());
      return false;
    case QEvent::Leave:
      pointer_left();
      return false;
    default:
      return false;
  }
}

bool PlotView::mouse_pressed(const QMouseEvent& event) {
  setFocus(Qt::MouseFocusReason);
  const bool left = event.button() == Qt::LeftButton;
  const bool pans =
      event.button() == Qt::MiddleButton || (left && event.modifiers().testFlag(Qt::ShiftModifier));
  if (!left && !pans) return false;
  *drag_ = {pans ? Drag::Kind::pan : Drag::Kind::frame,
            event.position(),
            event.position(),
            false,
            next_gesture(),
            drag_->wheel_at};
  return true;
}

bool PlotView::mouse_moved(const QMouseEvent& event) {
  const QPointF at = event.position();
  const QRectF rect = canvas_->data_rect();
  if (rect.contains(at) && !scene_->nothing) {
    group_->point_at(scene_->x_map(rect).value(at.x()));
  } else if (drag_->kind == Drag::Kind::none) {
    group_->point_at(std::nullopt);
  }
  if (drag_->kind == Drag::Kind::none || scene_->nothing || !rect.contains(drag_->from))
    return true;
  const QPointF way = at - drag_->from;
  drag_->moved = drag_->moved || std::hypot(way.x(), way.y()) >= kClickPixels;
  if (!drag_->moved) return true;
  if (drag_->kind == Drag::Kind::frame) {
    scene_->frame = drag_frame(drag_->from, at, rect).rect;
    cross_dirty_ = true;
    group_->touch();
  } else {
    const QPointF step = at - drag_->last;
    pan_by(-step.x() / rect.width(), step.y() / rect.height(), drag_->gesture);
  }
  drag_->last = at;
  return true;
}

bool PlotView::mouse_released(const QMouseEvent& event) {
  const Drag drag = *drag_;
  drag_->kind = Drag::Kind::none;
  scene_->frame.reset();
  cross_dirty_ = true;
  group_->touch();
  if (drag.kind == Drag::Kind::none) return true;
  if (!drag.moved) {
    clicked(event.position(), event.modifiers().testFlag(Qt::ControlModifier));
  } else if (drag.kind == Drag::Kind::frame) {
    const DragFrame frame = drag_frame(drag.from, event.position(), canvas_->data_rect());
    zoom_to_frame(frame.rect, frame.x, frame.y);
  }
  return true;
}

void PlotView::zoom_to_frame(const QRectF& frame, bool x, bool y) {
  if (frame.isEmpty()) return;
  const QRectF rect = canvas_->data_rect();
  const AxisMap x_map = scene_->x_map(rect);
  const AxisMap y_map = scene_->y_map(rect);
  ZoomState state = group_->zoom();
  if (x) state.x = Extent{x_map.value(frame.left()), x_map.value(frame.right())};
  if (y && scene_->rows.empty()) {
    state.y[number_] = Extent{y_map.value(frame.bottom()), y_map.value(frame.top())};
  }
  group_->zoom_to(std::move(state));
}

void PlotView::clicked(QPointF pixel, bool one_more) {
  if (const LegendEntry* entry = canvas_->legend_at(pixel)) {
    const QString key = entry->key;
    one_more ? toggle(key) : isolate(key);
    return;
  }
  const QRectF rect = canvas_->data_rect();
  if (!rect.contains(pixel) || scene_->nothing) return;
  group_->lock();
  const double x = scene_->x_map(rect).value(pixel.x());
  emit x_clicked(x);
  if (scene_->rows.empty()) return;
  const double share = (pixel.y() - rect.top()) / rect.height();
  const auto rows = static_cast<int>(scene_->rows.size());
  emit row_clicked(std::clamp(static_cast<int>(share * rows), 0, rows - 1), x);
}

bool PlotView::wheel_turned(const QWheelEvent& event) {
  const QRectF rect = canvas_->data_rect();
  if (scene_->nothing || !rect.contains(event.position())) return false;
  // With Alt some platforms report the wheel as one that turns sideways.
  const QPoint turn = event.angleDelta();
  const double notches = (turn.y() != 0 ? turn.y() : turn.x()) / kWheelNotch;
  if (notches == 0) return true;
  // Turns at one place are one step back.
  const QPointF way = event.position() - drag_->wheel_at;
  if (drag_->gesture == 0 || std::hypot(way.x(), way.y()) > kClickPixels) {
    drag_->gesture = next_gesture();
    drag_->wheel_at = event.position();
  }
  const bool along_y = event.modifiers().testFlag(Qt::ControlModifier);
  zoom_steps(std::pow(kWheelFactor, notches), event.position(), !along_y, along_y, drag_->gesture);
  return true;
}

void PlotView::pointer_left() {
  group_->hover(false);
  if (drag_->kind == Drag::Kind::none) group_->point_at(std::nullopt);
}

void PlotView::keyPressEvent(QKeyEvent* event) {
  if (zoom_key(*event) || legend_key(*event)) return;
  QWidget::keyPressEvent(event);  // somebody above may know it
}

bool PlotView::zoom_key(const QKeyEvent& event) {
  const bool control = event.modifiers().testFlag(Qt::ControlModifier);
  const bool shift = event.modifiers().testFlag(Qt::ShiftModifier);
  switch (event.key()) {
    case Qt::Key_Backspace:
      shift ? redo() : undo();
      return true;
    case Qt::Key_Z:
      if (!control) return false;
      shift ? redo() : undo();
      return true;
    case Qt::Key_Y:
      if (control) redo();
      return control;
    case Qt::Key_Home:
      fit();
      return true;
    case Qt::Key_End:
    case Qt::Key_Space:
      group_->go_live();
      return true;
    case Qt::Key_Left:
      pan(-kPanShare, 0);
      return true;
    case Qt::Key_Right:
      pan(kPanShare, 0);
      return true;
    case Qt::Key_Up:
      pan(0, kPanShare);
      return true;
    case Qt::Key_Down:
      pan(0, -kPanShare);
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
      shift ? set_log_x(!group_->log_x()) : set_log_y(!log_y());
      return true;
    default:
      return false;
  }
}

// About the crosshair where there is one, as a wheel would.
void PlotView::zoom_by_key(double factor, bool along_y) {
  const QRectF rect = canvas_->data_rect();
  QPointF about = rect.center();
  if (group_->crosshair()) {
    const double at = scene_->x_map(rect).pixel(*group_->crosshair());
    if (at >= rect.left() && at <= rect.right()) about.setX(at);
  }
  zoom_steps(factor, about, !along_y, along_y, 0);
}

bool PlotView::legend_key(const QKeyEvent& event) {
  const bool control = event.modifiers().testFlag(Qt::ControlModifier);
  const int key = event.key();
  if (key == Qt::Key_BracketLeft || key == Qt::Key_BracketRight) {
    step_crosshair(key == Qt::Key_BracketLeft ? -1 : 1);
    return true;
  }
  if (key == Qt::Key_Escape && (group_->crosshair() || drag_->kind != Drag::Kind::none)) {
    drag_->kind = Drag::Kind::none;
    scene_->frame.reset();
    cross_dirty_ = true;
    group_->point_at(std::nullopt);
    group_->touch();
    return true;
  }
  if ((key == Qt::Key_Return || key == Qt::Key_Enter) && group_->crosshair()) {
    group_->lock();
    emit x_clicked(*group_->crosshair());
    return true;
  }
  if (key == Qt::Key_Question) {
    emit help_requested();
    return true;
  }
  if (key == Qt::Key_0) {
    show_all();
    return true;
  }
  if (key < Qt::Key_1 || key > Qt::Key_9) return false;
  const auto index = static_cast<std::size_t>(key - Qt::Key_1);
  if (index >= scene_->legend.size()) return false;
  const QString which = scene_->legend[index].key;
  control ? toggle(which) : isolate(which);
  return true;
}

// To the next sample of the first curve that is shown, from where the crosshair stands or the
// middle.
void PlotView::step_crosshair(int steps) {
  const Extent x = group_->x_range();
  const auto curve =
      std::find_if(scene_->curves.begin(), scene_->curves.end(), [this](const PlotCurve& one) {
        return one.series && !one.series->empty() && shown(one.key);
      });
  if (curve == scene_->curves.end()) return;
  const QRectF rect = canvas_->data_rect();
  const AxisMap map = scene_->x_map(rect);
  const double from = group_->crosshair().value_or(map.value(rect.center().x()));
  // A sample that lies in another pixel; of dense ones that is the next pixel's.
  for (double pixel = map.pixel(from) + steps;; pixel += steps) {
    const double at = map.value(pixel);
    if (!(at >= x.low && at <= x.high)) return;
    const auto sample = curve->series->nearest(at);
    if ((sample->x - from) * steps > 0 && sample->x >= x.low && sample->x <= x.high) {
      group_->point_at(sample->x);
      return;
    }
  }
}

void PlotView::focusInEvent(QFocusEvent* event) {
  QWidget::focusInEvent(event);
  scene_->focused = true;
  cross_dirty_ = true;
  group_->touch();
}

void PlotView::focusOutEvent(QFocusEvent* event) {
  QWidget::focusOutEvent(event);
  scene_->focused = false;
  cross_dirty_ = true;
  group_->touch();
}

}  // namespace tributary::dashboard
