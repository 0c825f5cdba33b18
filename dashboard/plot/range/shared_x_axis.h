// The x axis that the views of a group share: its range, its scale, the history of its zooms, and
// whether the range follows new data.
//
// The range is the zoom's, if there is one, and otherwise that of all data. A range of all data
// follows new data while the axis is live. The axis stops being live while the pointer hovers over
// a view, and for good after lock() or a zoom, until go_live(). Every range is finite, its high end
// is above its low end, and a zoom that is not so is ignored.
//
// The zooms of the views' y ranges are in the same history, so that one undo takes back what one
// gesture did. Threads: that of the widgets.
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
  // What the data cover; nothing without data. Called whenever the range of all data is set, which
  // is once per follow() while live.
  using DataExtent = std::function<std::optional<Extent>()>;

  // `data` must be callable as long as the axis exists.
  explicit SharedXAxis(DataExtent data, QObject* parent = nullptr);

  Extent range() const { return range_; }
  const ZoomState& zoom() const { return history_.current(); }
  // Steps with the same gesture, which is not 0, are one step: the clicks of a wheel.
  void zoom_to(ZoomState state, std::uint64_t gesture = 0);
  bool undo();
  bool redo();
  void fit();  // one more step of the history: all data
  bool is_log() const { return log_; }
  void set_log(bool on);

  bool live() const { return !locked_ && !hovered_; }
  // Whether new data may still arrive; a run that has ended has none. live() does not depend on it.
  bool following() const { return following_; }
  void set_following(bool on);
  bool locked() const { return locked_; }
  void hover(bool inside);
  void lock();
  void go_live();
  // The range of all data is the last `width` of x at most; 0: no limit.
  void set_live_width(double width);

  // Takes new data into the range, if it follows them.
  void follow();

 signals:
  void live_changed(bool live);
  void log_changed(bool on);
  void changed();  // the range, a zoom of a y range, or the scale

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
  bool has_data_ = false;  // range_ is that of data
};

}  // namespace tributary::dashboard
