#include "dashboard/plot/plot_view.h"

#include <QEvent>
#include <QFocusEvent>
#include <QKeyEvent>
#include <QVBoxLayout>
#include <cmath>
#include <utility>

#include "dashboard/plot/input/plot_input.h"
#include "dashboard/plot/layers/scene.h"
#include "dashboard/plot/live_badge.h"
#include "dashboard/plot/plot_canvas.h"

namespace tributary::dashboard {
namespace {

constexpr double kReachParts = 20;  // reach of the crosshair: this part of the x range

// For Qt, a widget behind another tab is visible, but outside the window's area.
bool in_sight(const QWidget& widget) {
  const QWidget& window = *widget.window();
  const QRect place(widget.mapTo(&window, QPoint()), widget.size());
  return widget.isVisible() && window.rect().intersects(place);
}

}  // namespace

PlotView::PlotView(Options options, PlotGroup* group, QWidget* parent)
    : QWidget(parent),
      group_(group ? group : new PlotGroup(this)),
      scene_(std::make_unique<Scene>()) {
  scene_->options = std::move(options);
  scene_->colours = plot_colours(palette());
  canvas_ = new PlotCanvas(*scene_, this);
  // A click on the canvas gives the focus to the view, so that its keys work.
  canvas_->setFocusProxy(this);
  axes_ = std::make_unique<PlotAxes>(*scene_, *canvas_, group_->x_axis(), group_->add(*this));
  input_ = std::make_unique<PlotInput>(*canvas_, *scene_, *axes_, *group_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(canvas_);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(scene_->options.title);
  badge_ = new LiveBadge(group_->x_axis(), this);
  badge_->set_text_colour(scene_->colours.text);
  connect_parts();
}

PlotView::~PlotView() {
  group_->remove(*this);
  // Destroyed before the scene that it reads.
  delete canvas_;
}

// A change of the shared axis or of the crosshair comes from the group, which repaints all views
// itself. Other changes must request the repaint.
void PlotView::connect_parts() {
  connect(&group_->x_axis(), &SharedXAxis::changed, this, [this] { dirty_ = true; });
  connect(group_, &PlotGroup::colours_changed, this, [this] { dirty_ = true; });
  connect(group_, &PlotGroup::crosshair_moved, this, [this] { cross_dirty_ = true; });
  connect(axes_.get(), &PlotAxes::log_y_changed, this, &PlotView::paint_all_soon);
  connect(&scene_->legend, &Legend::changed, this, &PlotView::paint_all_soon);
  connect(input_.get(), &PlotInput::frame_changed, this, &PlotView::paint_cross_soon);
  connect(input_.get(), &PlotInput::x_clicked, this, &PlotView::x_clicked);
  connect(input_.get(), &PlotInput::row_clicked, this, &PlotView::row_clicked);
  connect(input_.get(), &PlotInput::help_requested, this, &PlotView::help_requested);
}

void PlotView::set_curves(std::vector<PlotCurve> curves) {
  scene_->content.curves = std::move(curves);
  content_changed();
}

void PlotView::set_bands(std::vector<Band> bands) {
  scene_->content.bands = std::move(bands);
  content_changed();
}

void PlotView::set_bars(std::vector<Bars> bars) {
  scene_->content.bars = std::move(bars);
  content_changed();
}

void PlotView::set_gantt(std::vector<GanttRow> rows) {
  scene_->content.rows = std::move(rows);
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

// Changes are collected: the view is painted once, at the group's next refresh, however many
// setters were called.
void PlotView::content_changed() {
  scene_->legend.list(legend_entries(scene_->content, scene_->options.spans_in_legend));
  look_up_colours(scene_->content, group_->colours(), scene_->slots_of_keys);
  paint_all_soon();
}

void PlotView::paint_all_soon() {
  dirty_ = true;
  group_->touch();
}

void PlotView::paint_cross_soon() {
  cross_dirty_ = true;
  group_->touch();
}

std::optional<Extent> PlotView::data_extent() const { return x_extent(scene_->content); }

// A full repaint also draws the crosshair. Without one, only the layer of the crosshair is
// repainted, which costs no curve.
void PlotView::refresh() {
  if (!in_sight(*this)) return;  // it stays dirty until it is visible
  const std::uint64_t revision_now = revision(scene_->content);
  if (dirty_ || revision_now != revision_seen_) {
    revision_seen_ = revision_now;
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
  scene_->focused = hasFocus();
  look_up_colours(scene_->content, group_->colours(), scene_->slots_of_keys);
  axes_->update();
  update_values();
}

// Without a crosshair, the legend shows the last values, but the plot has no markers.
void PlotView::update_values() {
  scene_->crosshair = group_->crosshair();
  scene_->values.clear();
  scene_->legend.clear_values();
  if (scene_->crosshair) {
    const double reach = (scene_->x.high - scene_->x.low) / kReachParts;
    scene_->values = values_near(scene_->content.curves, *scene_->crosshair, reach);
  } else {
    for (const PlotCurve& curve : scene_->content.curves) {
      const auto last = curve.series ? displayed_series(curve)->last() : std::nullopt;
      if (last) scene_->values.push_back({curve.key, *last, last->y});
    }
  }
  const char* const unknown = scene_->crosshair ? "gap" : "–";
  for (const CrosshairValue& value : scene_->values) {
    const bool gap = std::isnan(value.displayed);
    scene_->legend.set_value(value.key,
                             gap ? unknown : text_of(scene_->options.y.unit, value.displayed));
  }
  if (!scene_->crosshair) scene_->values.clear();
}

Legend& PlotView::legend() const { return scene_->legend; }
std::vector<CrosshairValue> PlotView::crosshair_values() const { return scene_->values; }

// The axis follows first, so that the export contains the newest data.
PlotExport PlotView::exporter() {
  group_->x_axis().follow();
  bring_up_to_date();
  paint_all_soon();  // an export computes the layout for its own size
  return {*canvas_, *scene_};
}

void PlotView::recolour() {
  scene_->colours = plot_colours(palette());
  canvas_->recolour();
  badge_->set_text_colour(scene_->colours.text);  // it lies on the plot's background
  badge_->show_state();
  paint_all_soon();
}

void PlotView::changeEvent(QEvent* event) {
  const auto type = event->type();
  if (type == QEvent::PaletteChange || type == QEvent::FontChange || type == QEvent::StyleChange) {
    recolour();
  }
  QWidget::changeEvent(event);
}

void PlotView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  badge_->show_state();
  paint_all_soon();
}

void PlotView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  paint_all_soon();
}

void PlotView::keyPressEvent(QKeyEvent* event) {
  if (input_->key_pressed(*event)) return;
  QWidget::keyPressEvent(event);  // a parent may handle the key
}

void PlotView::set_focused(bool focused) {
  scene_->focused = focused;
  paint_cross_soon();
}

void PlotView::focusInEvent(QFocusEvent* event) {
  QWidget::focusInEvent(event);
  set_focused(true);
}

void PlotView::focusOutEvent(QFocusEvent* event) {
  QWidget::focusOutEvent(event);
  set_focused(false);
}

}  // namespace tributary::dashboard
