// Pictures that belong together: one x range, one crosshair, one history of zooms, one clock for
// their repaints, and one answer to whether they follow what arrives.
#pragma once

#include <QObject>
#include <QTimer>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/run/series/series.h"
#include "dashboard/plot/data/palette.h"
#include "dashboard/plot/range/zoom_history.h"

namespace tributary::dashboard {

class PlotView;

class PlotGroup : public QObject {
  Q_OBJECT

 public:
  explicit PlotGroup(QObject* parent = nullptr);

  // Something may be new: the views look, once, within a thirtieth of a second.
  void touch();
  void refresh_now();

  // The x range in sight: what was zoomed to, or else all there is.
  Extent x_range() const { return x_range_; }
  const ZoomState& zoom() const { return history_.current(); }
  // Steps with the same gesture, which is not 0, are one step: the clicks of a wheel.
  void zoom_to(ZoomState state, std::uint64_t gesture = 0);
  bool undo();
  bool redo();
  void fit();
  bool log_x() const { return log_x_; }
  void set_log_x(bool on);

  // Live: the x range follows the data. Zooming leaves it, and so does pointing, as long as the
  // pointer stays or for good after a click; go_live() leads back.
  bool live() const { return !locked_ && !hovered_; }
  // Whether anything arrives at all: a run that has ended has no way back to live.
  bool following() const { return following_; }
  void set_following(bool on);
  bool locked() const { return locked_; }
  void hover(bool inside);
  void lock();
  void go_live();
  // Of all there is, live shows the last `width` of x; 0: all.
  void set_live_width(double width);

  std::optional<double> crosshair() const { return crosshair_; }
  void point_at(std::optional<double> x);

  ColourSlots& colours() { return *colours_; }
  // One key, one colour, in several groups.
  void share_colours(std::shared_ptr<ColourSlots> colours);
  const std::vector<PlotView*>& views() const { return views_; }

 signals:
  void live_changed(bool live);
  void range_changed();
  void log_x_changed(bool on);
  void crosshair_moved();

 private:
  friend class PlotView;
  std::uint64_t add(PlotView* view);  // the view's number
  void remove(PlotView* view);
  void follow();
  void show_all_there_is();
  void set_range(Extent range);
  void apply(const ZoomState& state);

  QTimer timer_;
  ZoomHistory history_;
  std::shared_ptr<ColourSlots> colours_;
  std::vector<PlotView*> views_;
  Extent x_range_ = {0, 1};
  double live_width_ = 0;
  bool log_x_ = false;
  bool locked_ = false;
  bool hovered_ = false;
  bool following_ = true;
  bool ranged_ = false;  // x_range_ is that of data
  std::uint64_t views_made_ = 0;
  std::optional<double> crosshair_;
};

}  // namespace tributary::dashboard
