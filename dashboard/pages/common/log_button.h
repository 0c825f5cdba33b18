// A button that switches the y axes of several charts to a logarithmic scale.
//
// Each chart can also be switched by its own key; the button follows and is down while all charts
// are logarithmic. GUI thread only.
#pragma once

#include <QSignalBlocker>
#include <QToolButton>
#include <algorithm>
#include <utility>
#include <vector>

#include "dashboard/plot/plot_view.h"

namespace tributary::dashboard {

// The charts must outlive the button. The parent layout owns the returned button.
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
          std::ranges::all_of(views, [](const PlotView* each) { return each->axes().log_y(); }));
    });
  }
  return button;
}

}  // namespace tributary::dashboard
