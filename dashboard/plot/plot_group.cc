#include "dashboard/plot/plot_group.h"

#include <algorithm>
#include <utility>

namespace tributary::dashboard {
namespace {

// 30 repaints a second.
constexpr int kRepaintEveryMs = 33;

std::optional<Extent> united(std::optional<Extent> a, std::optional<Extent> b) {
  if (!a || !b) return a ? a : b;
  return Extent{std::min(a->low, b->low), std::max(a->high, b->high)};
}

}  // namespace

PlotGroup::PlotGroup(QObject* parent)
    : QObject(parent),
      x_axis_([this] { return data_extent(); }),
      colours_(std::make_shared<ColourSlots>()) {
  timer_.setSingleShot(true);
  timer_.setInterval(kRepaintEveryMs);
  connect(&timer_, &QTimer::timeout, this, &PlotGroup::refresh_now);
  connect(&x_axis_, &SharedXAxis::changed, this, &PlotGroup::touch);
  connect(&x_axis_, &SharedXAxis::live_changed, this, &PlotGroup::touch);
}

void PlotGroup::touch() {
  if (!timer_.isActive()) timer_.start();
}

void PlotGroup::refresh_now() {
  // First the common range, then the views, so that all of them show the same range.
  x_axis_.follow();
  timer_.stop();  // following may have started it
  for (GroupedView* view : views_) view->refresh();
}

std::optional<Extent> PlotGroup::data_extent() const {
  std::optional<Extent> all;
  for (const GroupedView* view : views_) all = united(all, view->data_extent());
  return all;
}

void PlotGroup::point_at(std::optional<double> x) {
  if (x == crosshair_) return;
  crosshair_ = x;
  emit crosshair_moved();
  touch();
}

void PlotGroup::share_colours(std::shared_ptr<ColourSlots> colours) {
  colours_ = std::move(colours);
  emit colours_changed();
  touch();
}

std::uint64_t PlotGroup::add(GroupedView& view) {
  views_.push_back(&view);
  touch();
  return ++views_made_;
}

void PlotGroup::remove(const GroupedView& view) { std::erase(views_, &view); }

}  // namespace tributary::dashboard
