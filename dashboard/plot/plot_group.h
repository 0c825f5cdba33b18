// The views that belong together: they share one x axis, one crosshair and the colours of their
// keys, and one clock repaints them.
//
// A view adds itself and removes itself before either goes. Whoever has appended to a series that a
// view shows calls touch(). Threads: that of the widgets.
#pragma once

#include <QObject>
#include <QTimer>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/run/units/extent.h"
#include "dashboard/plot/data/palette.h"
#include "dashboard/plot/grouped_view.h"
#include "dashboard/plot/range/shared_x_axis.h"

namespace tributary::dashboard {

class PlotGroup : public QObject {
  Q_OBJECT

 public:
  explicit PlotGroup(QObject* parent = nullptr);

  // Something may be new: the views look, once, within a thirtieth of a second.
  void touch();
  void refresh_now();

  SharedXAxis& x_axis() { return x_axis_; }
  const SharedXAxis& x_axis() const { return x_axis_; }

  std::optional<double> crosshair() const { return crosshair_; }
  void point_at(std::optional<double> x);

  ColourSlots& colours() { return *colours_; }
  // One key, one colour, in several groups.
  void share_colours(std::shared_ptr<ColourSlots> colours);

  std::uint64_t add(GroupedView& view);  // the view's number, which no other view gets
  void remove(const GroupedView& view);

 signals:
  void crosshair_moved();
  void colours_changed();

 private:
  std::optional<Extent> data_extent() const;

  QTimer timer_;
  std::vector<GroupedView*> views_;
  SharedXAxis x_axis_;
  std::shared_ptr<ColourSlots> colours_;
  std::uint64_t views_made_ = 0;
  std::optional<double> crosshair_;
};

}  // namespace tributary::dashboard
