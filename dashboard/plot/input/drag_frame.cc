#include "dashboard/plot/input/drag_frame.h"

#include <cmath>

namespace tributary::dashboard {
namespace {

constexpr double kAlongPixels = 12;  // a smaller distance across selects one axis only

}  // namespace

DragFrame drag_frame(QPointF from, QPointF to, const QRectF& data) {
  const bool wide = std::fabs(to.x() - from.x()) >= kAlongPixels;
  const bool high = std::fabs(to.y() - from.y()) >= kAlongPixels;
  DragFrame frame;
  frame.rect = QRectF(from, to).normalized();
  // A drag that is short in both directions selects x, the axis that is zoomed most often.
  frame.x = wide || !high;
  frame.y = high;
  if (!frame.y)
    frame.rect = QRectF(frame.rect.left(), data.top(), frame.rect.width(), data.height());
  if (!frame.x)
    frame.rect = QRectF(data.left(), frame.rect.top(), data.width(), frame.rect.height());
  frame.rect &= data;
  return frame;
}

}  // namespace tributary::dashboard
