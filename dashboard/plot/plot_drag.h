// A drag of the mouse: what it began as, and what it means by its way.
#pragma once

#include <QPointF>
#include <QRectF>
#include <cstdint>

#include "dashboard/plot/plot_view.h"

namespace tributary::dashboard {

struct PlotView::Drag {
  enum class Kind : std::uint8_t { none, frame, pan };

  Kind kind = Kind::none;
  QPointF from = {};
  QPointF last = {};
  bool moved = false;         // far enough to be no click
  std::uint64_t gesture = 0;  // a pan is one step of the history
  QPointF wheel_at = {};
};

}  // namespace tributary::dashboard
