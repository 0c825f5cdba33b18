// The button at a view's upper right corner that shows whether the view follows new data, and leads
// back to that. It is hidden where no new data can arrive.
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
  void show_state();  // and moves to its place, after the view's size or font has changed

 private:
  SharedXAxis& axis_;
};

}  // namespace tributary::dashboard
