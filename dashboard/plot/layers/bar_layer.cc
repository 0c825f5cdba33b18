#include <algorithm>
#include <cmath>

#include "dashboard/plot/layers/scene_layer.h"

namespace tributary::dashboard {

void BarLayer::draw(QCPPainter* painter) {
  const QRectF rect = data_rect();
  const AxisMap x = scene_.x_map(rect);
  const AxisMap y = scene_.y_map(rect);
  // A logarithmic axis has no 0, so its bars begin at the edge.
  const double floor = scene_.log_y ? rect.bottom() : y.pixel(0);
  for (const Bars& bars : scene_.content.bars) {
    if (!scene_.shown(bars.key)) continue;
    const QColor line = scene_.colour(bars.key);
    QColor fill = line;
    // Several groups of bars overlap and must stay visible through one another.
    fill.setAlphaF(scene_.content.bars.size() > 1 ? 0.35F : 0.6F);
    painter->setBrush(fill);
    painter->setPen(QPen(line, 1));
    for (const Bar& bar : bars.bars) {
      const double left = x.pixel(bar.x_low);
      const double right = x.pixel(bar.x_high);
      const double top = y.pixel(bar.y);
      if (std::isnan(top) || !(right > rect.left()) || !(left < rect.right())) continue;
      painter->drawRect(QRectF(QPointF(std::max(left, rect.left() - 2), top),
                               QPointF(std::min(right, rect.right() + 2), floor))
                            .normalized());
    }
  }
}

}  // namespace tributary::dashboard
