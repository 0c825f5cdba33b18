// What the way of a dragged pointer means.
#pragma once

#include <QPointF>
#include <QRectF>

namespace tributary::dashboard {

// The frame between two points: of the whole height when the pointer went along x only, of the
// whole width when it went along y only.
struct DragFrame {
  QRectF rect = {};
  bool x = false;
  bool y = false;
};

DragFrame drag_frame(QPointF from, QPointF to, const QRectF& data);

}  // namespace tributary::dashboard
