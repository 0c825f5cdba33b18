// The x axis of a group of views: its range, its scale, its zoom history, and whether it follows
// new data.
//
// The range is that of the zoom, or the range of all data without a zoom. The range of all data
// follows new data while the axis is live. The axis is not live while the pointer is over a view,
// and after lock() or a zoom until go_live(). Every range is finite and not empty; an invalid zoom
// is ignored.
//
// The zooms of the views' y ranges are in the same history, so that one undo reverts one gesture
// completely. Threads: the GUI thread.
#pragma once

#include <QObject>
#include <cstdint>
#include <functional>
#include <optional>

#include "core/run/units/extent.h"
#include "dashboard/plot/range/zoom_history.h"

namespace tributary::dashboard {

class SharedXAxis : public QObject {
  Q_OBJECT

 public:
  // Returns the range of the data, or nothing without data. Called whenever the range of all data
  // is set, which is once per follow() while live.
  using DataExtent = std::function<std::optional<Extent>()>;

  // `data` must be callable during the lifetime of the axis.
  explicit SharedXAxis(DataExtent data, QObject* parent = nullptr);

  Extent range() const { return range_; }
  const ZoomState& zoom() const { return history_.current(); }
  // Zooms with the same gesture number (other than 0) are one step, such as the clicks of a wheel.
  void zoom_to(ZoomState state, std::uint64_t gesture = 0);
  bool undo();
  bool redo();
  void fit();  // adds a step to the history that shows all data
  bool is_log() const { return log_; }
  void set_log(bool on);

  bool live() const { return !locked_ && !hovered_; }
  // Whether new data may arrive, which is false for a finished run. live() does not depend on it.
  bool following() const { return following_; }
  void set_following(bool on);
  bool locked() const { return locked_; }
  void hover(bool inside);
  void lock();
  void go_live();
  // Limits the range of all data to the last `width` of x; 0: no limit.
  void set_live_width(double width);

  // Extends the range by new data, if it follows them.
  void follow();

 signals:
  void live_changed(bool live);
  void log_changed(bool on);
  void changed();  // the range, a y zoom, or the scale changed

 private:
  void show_all_data();
  void set_range(Extent range);
  void apply_zoom();

  DataExtent data_;
  ZoomHistory history_;
  Extent range_ = {0, 1};
  double live_width_ = 0;
  bool log_ = false;
  bool locked_ = false;
  bool hovered_ = false;
  bool following_ = true;
  bool has_data_ = false;  // whether range_ is that of data
};

}  // namespace tributary::dashboard
