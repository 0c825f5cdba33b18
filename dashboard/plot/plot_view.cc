#include "dashboard/plot/plot_view.h"

#include <QEvent>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "dashboard/plot/data/name_colours.h"
#include "dashboard/plot/plot_canvas.h"
#include "dashboard/plot/plot_drag.h"

namespace tributary::dashboard {
namespace {

constexpr double kSameShare = 1e-9;       // values that differ by less are one
constexpr double kRoomAboveShare = 0.05;  // between the highest value and the edge
constexpr std::size_t kStretchLegendMax = 12;

void unite(std::optional<Extent>& all, std::optional<Extent> one) {
  if (!one) return;
  all = all ? Extent{std::min(all->low, one->low), std::max(all->high, one->high)} : *one;
}

std::vector<SharedSeries> series_of(const PlotCurve& curve) {
  std::vector<SharedSeries> found;
  for (const SharedSeries& one : {curve.series, curve.raw, curve.low, curve.high}) {
    if (one) found.push_back(one);
  }
  return found;
}

// The lowest value above 0, which is where a log axis can begin.
std::optional<double> lowest_positive(const Series& series, Extent x) {
  constexpr int kColumns = 512;
  std::vector<double> borders(kColumns + 1);
  for (int i = 0; i <= kColumns; ++i) {
    borders[static_cast<std::size_t>(i)] = x.low + (x.high - x.low) * i / kColumns;
  }
  std::vector<Sample> drawn;
  series.draw(borders, drawn);
  std::optional<double> lowest;
  for (const Sample& sample : drawn) {
    if (sample.y > 0) lowest = std::min(lowest.value_or(sample.y), sample.y);
  }
  return lowest;
}

// What is behind another tab is visible to Qt as well, beside the window.
bool in_sight(const QWidget& widget) {
  const QWidget& window = *widget.window();
  const QRect place(widget.mapTo(&window, QPoint()), widget.size());
  return widget.isVisible() && window.rect().intersects(place);
}

Extent with_room(Extent range, bool log, bool from_zero) {
  if (log) {
    const double factor = std::max(std::pow(range.high / range.low, kRoomAboveShare), 1.05);
    return {range.low / factor, range.high * factor};
  }
  if (from_zero && range.low > 0) range.low = 0;
  double room = (range.high - range.low) * kRoomAboveShare;
  // A mean of values that are all the same differs from them by what rounding leaves.
  const double size = std::max(std::fabs(range.low), std::fabs(range.high));
  if (range.high - range.low <= size * kSameShare) room = size > 0 ? size * kRoomAboveShare : 1;
  return {from_zero && range.low == 0 ? 0 : range.low - room, range.high + room};
}

}  // namespace

PlotView::PlotView(Options options, PlotGroup* group, QWidget* parent)
    : QWidget(parent),
      group_(group ? group : new PlotGroup(this)),
      scene_(std::make_unique<Scene>()),
      drag_(std::make_unique<Drag>()) {
  scene_->options = std::move(options);
  scene_->colours = plot_colours(palette());
  canvas_ = new PlotCanvas(*scene_, this);
  canvas_->installEventFilter(this);
  canvas_->setFocusProxy(this);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(canvas_);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(scene_->options.title);

  badge_ = new QToolButton(this);
  badge_->setObjectName("live");
  badge_->setAutoRaise(true);
  badge_->setFocusPolicy(Qt::NoFocus);  // End and Space do the same
  connect(badge_, &QToolButton::clicked, this, [this] { group_->go_live(); });
  connect(group_, &PlotGroup::live_changed, this, [this] { update_badge(); });
  connect(group_, &PlotGroup::range_changed, this, [this] { dirty_ = true; });
  connect(group_, &PlotGroup::crosshair_moved, this, [this] { cross_dirty_ = true; });
  number_ = group_->add(this);
  update_badge();
}

PlotView::~PlotView() {
  group_->remove(this);
  // Before the scene that it reads.
  delete canvas_;
}

void PlotView::set_curves(std::vector<PlotCurve> curves) {
  scene_->curves = std::move(curves);
  content_changed();
}

void PlotView::set_bands(std::vector<Band> bands) {
  scene_->bands = std::move(bands);
  content_changed();
}

void PlotView::set_bars(std::vector<Bars> bars) {
  scene_->bars = std::move(bars);
  content_changed();
}

void PlotView::set_gantt(std::vector<GanttRow> rows) {
  scene_->rows = std::move(rows);
  content_changed();
}

void PlotView::set_empty_text(const QString& text) {
  scene_->options.empty_text = text;
  content_changed();
}

void PlotView::set_x_axis(AxisText axis) {
  scene_->options.x = std::move(axis);
  content_changed();
}

void PlotView::content_changed() {
  list_legend();
  look_up_colours();
  dirty_ = true;
  group_->touch();
}

bool PlotView::empty() const { return !data_extent().has_value(); }

void PlotView::look_up_colours() {
  const auto give = [this](const QString& key) {
    scene_->slots_of_keys[key] = group_->colours().slot_of(key);
  };
  const auto give_stretch = [&](const Stretch& one) {
    if (!one.named) return give(key_of(one));
    scene_->slots_of_keys[key_of(one)] = slot_of_name(key_of(one));
  };
  for (const PlotCurve& curve : scene_->curves) {
    scene_->slots_of_keys[curve.key] = group_->colours().slot_of(colour_key_of(curve));
  }
  for (const Bars& bars : scene_->bars) give(bars.key);
  for (const Band& band : scene_->bands) {
    std::ranges::for_each(band.stretches, give_stretch);
  }
  for (const GanttRow& row : scene_->rows) {
    std::ranges::for_each(row.spans, give_stretch);
  }
}

// Curves and bars one by one; of spans and stretches each kind once, unless they are too many kinds
// to be kinds.
void PlotView::list_legend() {
  scene_->legend.clear();
  for (const PlotCurve& curve : scene_->curves) scene_->legend.push_back({curve.key, curve.name});
  for (const Bars& bars : scene_->bars) scene_->legend.push_back({bars.key, bars.name});
  std::vector<LegendEntry> kinds;
  std::set<QString> known;
  const auto kind = [&](const Stretch& stretch) {
    if (known.insert(key_of(stretch)).second) kinds.push_back({key_of(stretch), key_of(stretch)});
  };
  for (const Band& band : scene_->bands) std::ranges::for_each(band.stretches, kind);
  if (scene_->options.spans_in_legend) {
    for (const GanttRow& row : scene_->rows) std::ranges::for_each(row.spans, kind);
  }
  if (kinds.size() > kStretchLegendMax) return;
  scene_->legend.insert(scene_->legend.end(), kinds.begin(), kinds.end());
}

std::optional<Extent> PlotView::data_extent() const {
  std::optional<Extent> all;
  for (const PlotCurve& curve : scene_->curves) {
    for (const SharedSeries& series : series_of(curve)) unite(all, series->x_extent());
  }
  for (const Bars& bars : scene_->bars) {
    for (const Bar& bar : bars.bars) unite(all, Extent{bar.x_low, bar.x_high});
  }
  const auto stretch = [&](const Stretch& one) { unite(all, Extent{one.x_low, one.x_high}); };
  for (const Band& band : scene_->bands) std::ranges::for_each(band.stretches, stretch);
  for (const GanttRow& row : scene_->rows) {
    std::ranges::for_each(row.spans, stretch);
    for (const GanttMoment& moment : row.moments) unite(all, Extent{moment.x, moment.x});
  }
  return all;
}

std::uint64_t PlotView::revisions() const {
  std::uint64_t sum = 0;
  for (const PlotCurve& curve : scene_->curves) {
    for (const SharedSeries& series : series_of(curve)) sum += series->revision();
  }
  return sum;
}

void PlotView::fit_y() {
  const auto zoomed = group_->zoom().y.find(number_);
  if (zoomed != group_->zoom().y.end()) {
    scene_->y = zoomed->second;
    // A log axis has nothing at 0 and below.
    if (!scene_->log_y || scene_->y.low > 0) return;
  }
  if (!scene_->rows.empty()) {
    scene_->y = {0, static_cast<double>(scene_->rows.size())};
    return;
  }
  const Extent x = scene_->x;
  std::optional<Extent> all;
  std::optional<double> positive;
  for (const PlotCurve& curve : scene_->curves) {
    if (!scene_->shown(curve.key)) continue;
    for (const SharedSeries& series : series_of(curve)) {
      unite(all, series->y_extent(x.low, x.high));
      if (!scene_->log_y) continue;
      const auto lowest = lowest_positive(*series, x);
      if (lowest) positive = std::min(positive.value_or(*lowest), *lowest);
    }
  }
  for (const Bars& bars : scene_->bars) {
    if (!scene_->shown(bars.key)) continue;
    for (const Bar& bar : bars.bars) {
      unite(all, Extent{scene_->log_y ? bar.y : 0, bar.y});
      if (bar.y > 0) positive = std::min(positive.value_or(bar.y), bar.y);
    }
  }
  if (!all || !std::isfinite(all->low) || !std::isfinite(all->high)) all = Extent{0, 1};
  if (scene_->log_y) {
    if (!positive) positive = 1;
    all = Extent{*positive, std::max(all->high, *positive)};
  }
  const bool from_zero = scene_->options.y_from_zero || !scene_->bars.empty();
  scene_->y = with_room(*all, scene_->log_y, from_zero);
}

void PlotView::update_values() {
  scene_->crosshair = group_->crosshair();
  scene_->values.clear();
  for (LegendEntry& entry : scene_->legend) entry.value.clear();
  const Extent x = scene_->x;
  if (scene_->crosshair) {
    scene_->values = values_near(scene_->curves, *scene_->crosshair, (x.high - x.low) / 20);
  } else {
    for (const PlotCurve& curve : scene_->curves) {
      const auto last = curve.series ? told_of(curve)->last() : std::nullopt;
      if (last) scene_->values.push_back({curve.key, *last, last->y});
    }
  }
  for (const CrosshairValue& value : scene_->values) {
    const auto entry = std::find_if(scene_->legend.begin(), scene_->legend.end(),
                                    [&](const LegendEntry& one) { return one.key == value.key; });
    if (entry == scene_->legend.end()) continue;
    const bool gap = std::isnan(value.told);
    const char* const unknown = scene_->crosshair ? "gap" : "–";
    entry->value = gap ? unknown : text_of(scene_->options.y.unit, value.told);
  }
  if (!scene_->crosshair) scene_->values.clear();
}

void PlotView::refresh() {
  if (!in_sight(*this)) return;  // it stays dirty until somebody sees it
  const std::uint64_t revisions_now = revisions();
  if (dirty_ || revisions_now != revisions_seen_) {
    revisions_seen_ = revisions_now;
    bring_up_to_date();
    canvas_->paint_all();
    ++paints_;
  } else if (cross_dirty_) {
    update_values();
    canvas_->paint_cross();
  }
  dirty_ = false;
  cross_dirty_ = false;
}

void PlotView::bring_up_to_date() {
  scene_->nothing = empty();
  scene_->x = group_->x_range();
  scene_->log_x = log_x();
  scene_->focused = hasFocus();
  look_up_colours();
  fit_y();
  update_values();
}

Extent PlotView::x_range() const { return group_->x_range(); }
Extent PlotView::y_range() const { return scene_->y; }

bool PlotView::log_y() const { return scene_->log_y; }

void PlotView::set_log_y(bool on) {
  if (!scene_->rows.empty() || on == scene_->log_y) return;
  scene_->log_y = on;
  dirty_ = true;
  group_->touch();
  emit log_y_changed(on);
}

// Moments of a calendar have no logarithm.
bool PlotView::log_x() const {
  return group_->log_x() && scene_->options.x.unit != Unit::wall_time && scene_->x.low > 0;
}

void PlotView::set_log_x(bool on) {
  if (scene_->options.x.unit != Unit::wall_time) group_->set_log_x(on);
}

void PlotView::isolate(const QString& key) {
  std::set<QString> others;
  for (const LegendEntry& entry : scene_->legend) {
    if (entry.key != key) others.insert(entry.key);
  }
  scene_->hidden = scene_->hidden == others ? std::set<QString>() : others;
  dirty_ = true;
  group_->touch();
  emit legend_changed();
}

void PlotView::toggle(const QString& key) {
  if (scene_->hidden.erase(key) == 0) scene_->hidden.insert(key);
  dirty_ = true;
  group_->touch();
  emit legend_changed();
}

void PlotView::show_all() {
  scene_->hidden.clear();
  dirty_ = true;
  group_->touch();
  emit legend_changed();
}

bool PlotView::shown(const QString& key) const { return scene_->shown(key); }

std::vector<CrosshairValue> PlotView::crosshair_values() const { return scene_->values; }

QRect PlotView::data_rect() const { return canvas_->data_rect(); }

QRect PlotView::legend_rect(const QString& key) const {
  for (const LegendEntry& entry : scene_->legend) {
    if (entry.key == key) return entry.rect.toRect();
  }
  return {};
}

QString PlotView::legend_value(const QString& key) const {
  for (const LegendEntry& entry : scene_->legend) {
    if (entry.key == key) return entry.value;
  }
  return {};
}

QPointF PlotView::pixel_of(double x, double y) const {
  const QRectF rect = canvas_->data_rect();
  return {scene_->x_map(rect).pixel(x), scene_->y_map(rect).pixel(y)};
}

void PlotView::update_badge() {
  const bool live = group_->live() && !group_->zoom().x;
  badge_->setText(live ? "● Live" : "❚❚ Paused: back to live");
  badge_->setToolTip(
      live ? "The picture follows what arrives. Pointing at it pauses, a click or a zoom "
             "holds it."
           : "Follow what arrives again (End or Space)");
  // It stands on the picture's ground, not on a window's.
  QPalette colours = badge_->palette();
  colours.setColor(QPalette::ButtonText, scene_->colours.text);
  badge_->setPalette(colours);
  badge_->setVisible(group_->following());
  badge_->adjustSize();
  badge_->move(width() - badge_->width(), 0);
}

void PlotView::recolour() {
  scene_->colours = plot_colours(palette());
  canvas_->recolour();
  dirty_ = true;
  group_->touch();
}

void PlotView::changeEvent(QEvent* event) {
  const auto type = event->type();
  if (type == QEvent::PaletteChange || type == QEvent::FontChange || type == QEvent::StyleChange) {
    recolour();
    update_badge();
  }
  QWidget::changeEvent(event);
}

void PlotView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  update_badge();
  dirty_ = true;
  group_->touch();
}

void PlotView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  dirty_ = true;
  group_->touch();
}

}  // namespace tributary::dashboard
