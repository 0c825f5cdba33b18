// The button at the upper right of a view that shows whether the view follows new data, and returns
// to following on a click. It is hidden if no new data can arrive. Threads: the GUI thread.
//
// The view is its parent and owns it.
#pragma once

#include <QColor>
#include <QToolButton>

#include "dashboard/plot/range/shared_x_axis.h"

namespace tributary::dashboard {

class LiveBadge : public QToolButton {
 public:
  // `axis` must outlive the badge.
  LiveBadge(SharedXAxis& axis, QWidget* view);

  void set_text_colour(const QColor& colour);
  // Updates text and position; call it after a change of the view's size or font.
  void show_state();

 private:
  SharedXAxis& axis_;
};

}  // namespace tributary::dashboard
