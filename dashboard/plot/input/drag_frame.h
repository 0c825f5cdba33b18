// Interprets the path of a dragged pointer as a zoom frame. A pure function. A distance below a few
// pixels across the path selects one axis only.
#pragma once

#include <QPointF>
#include <QRectF>

namespace tributary::dashboard {

// The frame between two points. It covers the full height if the pointer moved along x only, and
// the full width if it moved along y only. `x` and `y` state which axes it zooms.
struct DragFrame {
  QRectF rect = {};
  bool x = false;
  bool y = false;
};

// `data` is the rectangle of the plot's data; the frame is clipped to it.
DragFrame drag_frame(QPointF from, QPointF to, const QRectF& data);

}  // namespace tributary::dashboard
