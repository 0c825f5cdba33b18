// A group of views with one x axis, one crosshair, shared colours of keys, and one repaint timer.
//
// A view adds itself, and removes itself before it or the group is destroyed. A producer that has
// appended to a displayed series calls touch(). Threads: the GUI thread.
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

  // Announces possible changes. All views check once, within 1/30 s.
  void touch();
  void refresh_now();

  SharedXAxis& x_axis() { return x_axis_; }
  const SharedXAxis& x_axis() const { return x_axis_; }

  std::optional<double> crosshair() const { return crosshair_; }
  void point_at(std::optional<double> x);

  ColourSlots& colours() { return *colours_; }
  // Shares the colours of keys with other groups.
  void share_colours(std::shared_ptr<ColourSlots> colours);

  std::uint64_t add(GroupedView& view);  // returns the view's number, which is never reused
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
