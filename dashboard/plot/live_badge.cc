#include "dashboard/plot/live_badge.h"

namespace tributary::dashboard {

LiveBadge::LiveBadge(SharedXAxis& axis, QWidget* view) : QToolButton(view), axis_(axis) {
  setObjectName("live");
  setAutoRaise(true);
  setFocusPolicy(Qt::NoFocus);  // the keys End and Space do the same
  connect(this, &QToolButton::clicked, &axis_, &SharedXAxis::go_live);
  connect(&axis_, &SharedXAxis::live_changed, this, &LiveBadge::show_state);
  show_state();
}

void LiveBadge::show_state() {
  const bool live = axis_.live() && !axis_.zoom().x;
  setText(live ? "● Live" : "❚❚ Paused: back to live");
  setToolTip(live
                 ? "The chart follows new data. Pointing at it pauses it; a click or zoom holds it."
                 : "Follow new data again (End or Space)");
  setVisible(axis_.following());
  adjustSize();
  move(parentWidget()->width() - width(), 0);
}

void LiveBadge::set_text_colour(const QColor& colour) {
  QPalette colours = palette();
  colours.setColor(QPalette::ButtonText, colour);
  setPalette(colours);
}

}  // namespace tributary::dashboard
