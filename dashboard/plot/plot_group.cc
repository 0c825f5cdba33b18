#include "dashboard/plot/plot_group.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dashboard/plot/plot_view.h"

namespace tributary::dashboard {
namespace {

constexpr int kRepaintEveryMs = 33;

std::optional<Extent> united(std::optional<Extent> a, std::optional<Extent> b) {
  if (!a || !b) return a ? a : b;
  return Extent{std::min(a->low, b->low), std::max(a->high, b->high)};
}

// A range that has a width, and where a log axis asks for it only what is above 0.
Extent shown_range(Extent all, bool log) {
  if (log && all.high > 0 && all.low <= 0) {
    all.low = all.high > 1 ? std::min(1.0, all.high / 10) : all.high / 1000;
  }
  if (all.high > all.low) return all;
  return log && all.low > 0 ? Extent{all.low / 2, all.low * 2}
                            : Extent{all.low - 0.5, all.low + 0.5};
}

}  // namespace

PlotGroup::PlotGroup(QObject* parent) : QObject(parent), colours_(std::make_shared<ColourSlots>()) {
  timer_.setSingleShot(true);
  timer_.setInterval(kRepaintEveryMs);
  connect(&timer_, &QTimer::timeout, this, &PlotGroup::refresh_now);
}

void PlotGroup::touch() {
  if (!timer_.isActive()) timer_.start();
}

void PlotGroup::refresh_now() {
  timer_.stop();
  follow();
  for (PlotView* view : views_) view->refresh();
}

void PlotGroup::follow() {
  if (history_.current().x || (ranged_ && !live())) return;
  show_all_there_is();
}

void PlotGroup::show_all_there_is() {
  std::optional<Extent> all;
  for (const PlotView* view : views_) all = united(all, view->data_extent());
  ranged_ = all.has_value();
  if (!all) return;
  if (live_width_ > 0) all->low = std::max(all->low, all->high - live_width_);
  set_range(shown_range(*all, log_x_));
}

void PlotGroup::set_range(Extent range) {
  if (range.low == x_range_.low && range.high == x_range_.high) return;
  x_range_ = range;
  emit range_changed();
}

void PlotGroup::apply(const ZoomState& state) {
  if (state.x) {
    set_range(*state.x);
  } else {
    show_all_there_is();
  }
  for (PlotView* view : views_) view->mark_dirty();
  touch();
}

void PlotGroup::zoom_to(ZoomState state, std::uint64_t gesture) {
  const auto bad = [](const Extent& one) {
    return !std::isfinite(one.low) || !std::isfinite(one.high) || !(one.high > one.low);
  };
  if (state.x && bad(*state.x)) return;
  if (std::any_of(state.y.begin(), state.y.end(), [&](const auto& y) { return bad(y.second); })) {
    return;
  }
  history_.push(std::move(state), gesture);
  apply(history_.current());
  lock();
}

bool PlotGroup::undo() {
  if (!history_.undo()) return false;
  apply(history_.current());
  return true;
}

bool PlotGroup::redo() {
  if (!history_.redo()) return false;
  apply(history_.current());
  return true;
}

void PlotGroup::fit() {
  history_.push({});
  apply(history_.current());
}

void PlotGroup::set_log_x(bool on) {
  if (on == log_x_) return;
  log_x_ = on;
  // A zoom that a log axis cannot show is left, and can be had back.
  if (on && history_.current().x && history_.current().x->low <= 0) {
    ZoomState state = history_.current();
    state.x.reset();
    history_.push(std::move(state));
  }
  apply(history_.current());
  emit log_x_changed(on);
}

void PlotGroup::set_following(bool on) {
  following_ = on;
  emit live_changed(live());
}

void PlotGroup::hover(bool inside) {
  if (inside == hovered_) return;
  const bool before = live();
  hovered_ = inside;
  if (live() != before) emit live_changed(live());
  if (live()) touch();
}

void PlotGroup::lock() {
  if (locked_) return;
  const bool before = live();
  locked_ = true;
  if (before) emit live_changed(false);
}

void PlotGroup::go_live() {
  locked_ = false;
  hovered_ = false;
  if (history_.current().x) history_.push({});
  apply(history_.current());
  emit live_changed(true);
}

void PlotGroup::set_live_width(double width) {
  live_width_ = width;
  touch();
}

void PlotGroup::point_at(std::optional<double> x) {
  if (x == crosshair_) return;
  crosshair_ = x;
  emit crosshair_moved();
  touch();
}

void PlotGroup::share_colours(std::shared_ptr<ColourSlots> colours) {
  colours_ = std::move(colours);
  for (PlotView* view : views_) view->mark_dirty();
  touch();
}

std::uint64_t PlotGroup::add(PlotView* view) {
  views_.push_back(view);
  touch();
  return ++views_made_;
}

void PlotGroup::remove(PlotView* view) { std::erase(views_, view); }

}  // namespace tributary::dashboard
