#include "dashboard/plot/range/shared_x_axis.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tributary::dashboard {
namespace {

// Returns a range that is not empty, and above 0 on a log axis.
Extent shown_range(Extent all, bool log) {
  // A log axis cannot start at 0. The lower end is then 1 or a tenth of the upper end, whichever is
  // smaller; it is a thousandth of an upper end that is at most 1.
  if (log && all.high > 0 && all.low <= 0) {
    all.low = all.high > 1 ? std::min(1.0, all.high / 10) : all.high / 1000;
  }
  if (all.high > all.low) return all;
  return log && all.low > 0 ? Extent{all.low / 2, all.low * 2}
                            : Extent{all.low - 0.5, all.low + 0.5};
}

bool is_range(const Extent& extent) {
  return std::isfinite(extent.low) && std::isfinite(extent.high) && extent.high > extent.low;
}

}  // namespace

SharedXAxis::SharedXAxis(DataExtent data, QObject* parent)
    : QObject(parent), data_(std::move(data)) {}

// Without any data so far, the axis takes the first data even if it is locked.
void SharedXAxis::follow() {
  if (zoom().x || (has_data_ && !live())) return;
  show_all_data();
}

void SharedXAxis::show_all_data() {
  std::optional<Extent> all = data_();
  has_data_ = all.has_value();
  if (!all) return;
  if (live_width_ > 0) all->low = std::max(all->low, all->high - live_width_);
  set_range(shown_range(*all, log_));
}

// Emits changed() only for another range, so that a repaint is not requested in vain.
void SharedXAxis::set_range(Extent range) {
  if (range.low == range_.low && range.high == range_.high) return;
  range_ = range;
  emit changed();
}

void SharedXAxis::apply_zoom() {
  if (zoom().x) {
    set_range(*zoom().x);
  } else {
    show_all_data();
  }
  emit changed();  // also emitted if only a y range has changed
}

void SharedXAxis::zoom_to(ZoomState state, std::uint64_t gesture) {
  if (state.x && !is_range(*state.x)) return;
  if (!std::ranges::all_of(state.y, [](const auto& item) { return is_range(item.second); })) return;
  history_.push(std::move(state), gesture);
  apply_zoom();
  // A zoom ends live mode, because the user looks at one part of the data.
  lock();
}

bool SharedXAxis::undo() {
  if (!history_.undo()) return false;
  apply_zoom();
  return true;
}

bool SharedXAxis::redo() {
  if (!history_.redo()) return false;
  apply_zoom();
  return true;
}

// An empty state shows all data and is a step of its own, so that undo returns to the zoom.
void SharedXAxis::fit() {
  history_.push({});
  apply_zoom();
}

void SharedXAxis::set_log(bool on) {
  if (on == log_) return;
  log_ = on;
  // A zoom that a log axis cannot show is left; undo restores it.
  if (on && zoom().x && zoom().x->low <= 0) {
    ZoomState state = zoom();
    state.x.reset();
    history_.push(std::move(state));
  }
  apply_zoom();
  emit log_changed(on);
}

void SharedXAxis::set_following(bool on) {
  following_ = on;
  emit live_changed(live());
}

void SharedXAxis::hover(bool inside) {
  if (inside == hovered_) return;
  const bool before = live();
  hovered_ = inside;
  if (live() != before) emit live_changed(live());
}

void SharedXAxis::lock() {
  if (locked_) return;
  const bool before = live();
  locked_ = true;
  if (before) emit live_changed(false);
}

// go_live() also ends hovering, because the pointer is on the badge at this time.
void SharedXAxis::go_live() {
  locked_ = false;
  hovered_ = false;
  if (zoom().x) history_.push({});
  apply_zoom();
  emit live_changed(true);
}

void SharedXAxis::set_live_width(double width) {
  live_width_ = width;
  follow();
}

}  // namespace tributary::dashboard
