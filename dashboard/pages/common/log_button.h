// A button for the logarithmic y axes of some pictures, which also follows what is done to them by
// their own key: it is down while all of them have one.
#pragma once

#include <QSignalBlocker>
#include <QToolButton>
#include <algorithm>
#include <utility>
#include <vector>

#include "dashboard/plot/plot_view.h"

namespace tributary::dashboard {

// The pictures must not go before the button.
inline QToolButton* make_log_button(const QString& tip, const std::vector<PlotView*>& views) {
  auto* const button = new QToolButton;
  button->setText("Log y");
  button->setToolTip(tip);
  button->setCheckable(true);
  QObject::connect(button, &QToolButton::toggled, button, [views](bool on) {
    for (PlotView* view : views) view->axes().set_log_y(on);
  });
  for (PlotView* view : views) {
    QObject::connect(&view->axes(), &PlotAxes::log_y_changed, button, [button, views] {
      const QSignalBlocker blocked(button);
      button->setChecked(
          std::ranges::all_of(views, [](const PlotView* one) { return one->axes().log_y(); }));
    });
  }
  return button;
}

}  // namespace tributary::dashboard
