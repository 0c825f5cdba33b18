#include <algorithm>
#include <cmath>

#include "dashboard/plot/layers/scene_layer.h"

namespace tributary::dashboard {
namespace {

constexpr double kCrossDotRadius = 3;
constexpr double kCrossTextInset = 4;
constexpr float kFrameAlpha = 0.15F;

}  // namespace

void CrossLayer::draw(QCPPainter* painter) {
  const QRectF rect = data_rect();
  if (scene_.crosshair && !scene_.nothing) draw_crosshair(painter, *scene_.crosshair);
  if (scene_.frame) {
    QColor fill = scene_.colours.cross;
    fill.setAlphaF(kFrameAlpha);
    painter->setPen(QPen(scene_.colours.cross, 1));
    painter->setBrush(fill);
    painter->drawRect(*scene_.frame & rect);
  }
  // The focus is a state of the window and does not belong into a picture file.
  if (scene_.focused && !scene_.exporting) {
    painter->setPen(QPen(scene_.colours.cross, 1, Qt::DotLine));
    painter->setBrush(Qt::NoBrush);
    painter->drawRect(QRectF(whole()).adjusted(0, 0, -1, -1));
  }
}

void CrossLayer::draw_crosshair(QCPPainter* painter, double x) {
  const QRectF rect = data_rect();
  const AxisMap x_map = scene_.x_map(rect);
  const AxisMap y_map = scene_.y_map(rect);
  const double at = x_map.pixel(x);
  if (!(at >= rect.left() && at <= rect.right())) return;
  painter->setPen(QPen(scene_.colours.cross, 1, Qt::DashLine));
  painter->drawLine(QPointF(at, rect.top()), QPointF(at, rect.bottom()));

  painter->setAntialiasing(true);
  painter->setPen(QPen(scene_.colours.ground, 1));
  for (const CrosshairValue& value : scene_.values) {
    const QPointF point(x_map.pixel(value.sample.x), y_map.pixel(value.sample.y));
    if (std::isnan(point.y()) || !rect.contains(point) || !scene_.shown(value.key)) continue;
    painter->setBrush(scene_.colour(value.key));
    painter->drawEllipse(point, kCrossDotRadius, kCrossDotRadius);
  }
  painter->setAntialiasing(false);

  painter->setFont(mParentPlot->font());
  // The x of the crosshair stands below it, kept inside the plot.
  const QString text = text_of(scene_.options.x.unit, x);
  const QFontMetricsF metrics(painter->font());
  const double width = metrics.horizontalAdvance(text) + 2 * kCrossTextInset;
  const double left =
      std::clamp(at - width / 2, rect.left(), std::max(rect.left(), rect.right() - width));
  const QRectF box(left, rect.bottom() - metrics.height() - 2, width, metrics.height());
  painter->fillRect(box, scene_.colours.cross);
  painter->setPen(scene_.colours.ground);
  painter->drawText(box, Qt::AlignCenter, text);
}

}  // namespace tributary::dashboard
