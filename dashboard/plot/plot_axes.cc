#include "dashboard/plot/plot_axes.h"

#include <cmath>
#include <utility>

#include "dashboard/plot/layers/scene.h"
#include "dashboard/plot/plot_canvas.h"

namespace tributary::dashboard {
namespace {

Extent zoomed(Extent range, double at, double factor, bool log) {
  if (log) {
    const double low = at * std::pow(range.low / at, factor);
    return {low, at * std::pow(range.high / at, factor)};
  }
  return {at - (at - range.low) * factor, at + (range.high - at) * factor};
}

// On a log axis, both ends move by the same factor.
Extent moved(Extent range, double share, bool log) {
  if (log) {
    const double factor = std::pow(range.high / range.low, share);
    return {range.low * factor, range.high * factor};
  }
  const double step = (range.high - range.low) * share;
  return {range.low + step, range.high + step};
}

}  // namespace

PlotAxes::PlotAxes(Scene& scene, const PlotCanvas& canvas, SharedXAxis& shared, std::uint64_t view)
    : scene_(scene), canvas_(canvas), shared_(shared), view_(view) {}

Extent PlotAxes::y_range() const { return scene_.y; }
bool PlotAxes::log_y() const { return scene_.log_y; }

void PlotAxes::set_log_y(bool on) {
  if (has_rows() || on == scene_.log_y) return;
  scene_.log_y = on;
  emit log_y_changed(on);
}

// Wall time has no logarithmic scale.
bool PlotAxes::log_x() const {
  return shared_.is_log() && scene_.options.x.unit != Unit::wall_time && scene_.x.low > 0;
}

void PlotAxes::set_log_x(bool on) {
  if (scene_.options.x.unit != Unit::wall_time) shared_.set_log(on);
}

// All zooms start from the current state, so that the y ranges of other views stay.
void PlotAxes::zoom_to(Extent x, std::optional<Extent> y) {
  ZoomState state = shared_.zoom();
  state.x = x;
  if (y) state.y[view_] = *y;
  shared_.zoom_to(std::move(state));
}

void PlotAxes::zoom_to_frame(const DragFrame& frame) {
  if (frame.rect.isEmpty()) return;
  // The frame is in pixels of the last painting, and so are the scene's maps.
  const QRectF rect = data_rect();
  const AxisMap x_map = scene_.x_map(rect);
  const AxisMap y_map = scene_.y_map(rect);
  ZoomState state = shared_.zoom();
  if (frame.x) state.x = Extent{x_map.value(frame.rect.left()), x_map.value(frame.rect.right())};
  if (frame.y && !has_rows()) {
    state.y[view_] = Extent{y_map.value(frame.rect.bottom()), y_map.value(frame.rect.top())};
  }
  shared_.zoom_to(std::move(state));
}

void PlotAxes::zoom_about(QPointF pixel, double factor, bool x, bool y, std::uint64_t gesture) {
  ZoomState state = shared_.zoom();
  if (x) state.x = zoomed(shared_.range(), x_at(pixel.x()), factor, log_x());
  if (y && !has_rows()) {
    const double at = scene_.y_map(data_rect()).value(pixel.y());
    state.y[view_] = zoomed(scene_.y, at, factor, scene_.log_y);
  }
  shared_.zoom_to(std::move(state), gesture);
}

void PlotAxes::pan(double x_share, double y_share, std::uint64_t gesture) {
  ZoomState state = shared_.zoom();
  if (x_share != 0) state.x = moved(shared_.range(), x_share, log_x());
  if (y_share != 0 && !has_rows()) state.y[view_] = moved(scene_.y, y_share, scene_.log_y);
  shared_.zoom_to(std::move(state), gesture);
}

QRect PlotAxes::data_rect() const { return canvas_.data_rect(); }

QPointF PlotAxes::pixel_of(double x, double y) const {
  const QRectF rect = data_rect();
  return {scene_.x_map(rect).pixel(x), scene_.y_map(rect).pixel(y)};
}

double PlotAxes::x_at(double pixel) const { return scene_.x_map(data_rect()).value(pixel); }

// The scene's range is a copy, so that a repaint uses one range throughout.
void PlotAxes::update() {
  scene_.x = shared_.range();
  scene_.log_x = log_x();
  const auto zoom = shared_.zoom().y.find(view_);
  // A log axis cannot show 0 and less.
  if (zoom != shared_.zoom().y.end() && (!scene_.log_y || zoom->second.low > 0)) {
    scene_.y = zoom->second;
    return;
  }
  scene_.y = fitted_y(scene_.content,
                      {.x = scene_.x, .log = scene_.log_y, .from_zero = scene_.options.y_from_zero},
                      [this](const QString& key) { return scene_.shown(key); });
}

bool PlotAxes::has_rows() const { return !scene_.content.rows.empty(); }

}  // namespace tributary::dashboard
