#include "dashboard/plot/plot_canvas.h"

#include <QDateTime>
#include <QSvgGenerator>
#include <algorithm>
#include <cmath>
#include <utility>

#include "dashboard/plot/layers/legend_layout.h"
#include "dashboard/plot/layers/scene_layer.h"

namespace tributary::dashboard {
namespace {

constexpr std::size_t kLegendRowsMax = 2;
constexpr double kLegendSwatchWidth = 22;  // width of the swatch and of the space between entries
constexpr double kLegendInset = 8;
constexpr int kNameWidthMax = 160;
constexpr int kMarginGap = 6;

// Shows the ticks of the scene, which are computed with more context than QCustomPlot's tickers
// have.
class SceneTicker : public QCPAxisTicker {
 public:
  explicit SceneTicker(const Ticks& ticks) : ticks_(ticks) {}

  void generate(const QCPRange& /*range*/, const QLocale& /*locale*/, QChar /*format*/,
                int /*precision*/, QVector<double>& ticks, QVector<double>* sub_ticks,
                QVector<QString>* labels) override {
    ticks = QVector<double>(ticks_.at.begin(), ticks_.at.end());
    if (sub_ticks) *sub_ticks = QVector<double>(ticks_.minor.begin(), ticks_.minor.end());
    if (labels) *labels = QVector<QString>(ticks_.labels.begin(), ticks_.labels.end());
  }

 private:
  const Ticks& ticks_;
};

double utc_offset_at(double seconds) {
  return QDateTime::fromSecsSinceEpoch(static_cast<qint64>(seconds)).offsetFromUtc();
}

std::size_t strips_of(const Scene& scene) {
  return static_cast<std::size_t>(std::count_if(scene.content.bands.begin(),
                                                scene.content.bands.end(),
                                                [](const Band& band) { return !band.behind; }));
}

}  // namespace

PlotCanvas::PlotCanvas(Scene& scene, QWidget* parent) : QCustomPlot(parent), scene_(scene) {
  setMouseTracking(true);
  setPlottingHint(QCP::phCacheLabels);
  // The scene places title and legend, so the layout needs no margins of its own.
  plotLayout()->setMargins(QMargins(0, 0, 0, 0));
  axisRect()->setAutoMargins(QCP::msLeft | QCP::msRight | QCP::msBottom);
  xAxis->setTicker(QSharedPointer<SceneTicker>::create(scene.x_ticks));
  yAxis->setTicker(QSharedPointer<SceneTicker>::create(scene.y_ticks));
  xAxis->setSubTicks(true);
  // QCustomPlot owns the layers.
  new BandLayer(axisRect(), scene, "main");  // above the grid, below the curves
  new BarLayer(axisRect(), scene, "main");
  new GanttLayer(axisRect(), scene, "main");
  new CurveLayer(axisRect(), scene, "main");
  new HeaderLayer(axisRect(), scene, "overlay");
  new CrossLayer(axisRect(), scene, "overlay");
  recolour();
}

void PlotCanvas::recolour() {
  const PlotColours& colours = scene_.colours;
  setBackground(QBrush(colours.ground));
  for (QCPAxis* axis : {xAxis, yAxis}) {
    axis->setBasePen(QPen(colours.axis, 1));
    axis->setTickPen(QPen(colours.axis, 1));
    axis->setSubTickPen(QPen(colours.axis, 1));
    axis->setTickLabelColor(colours.text);
    axis->setLabelColor(colours.text);
    axis->setTickLabelFont(font());
    axis->setLabelFont(font());
    axis->grid()->setPen(QPen(colours.grid, 1));
    axis->grid()->setZeroLinePen(QPen(colours.grid, 1));
    axis->setTickLength(0, 4);
    axis->setSubTickLength(0, 2);
  }
}

void PlotCanvas::paint_all() {
  lay_out(size());
  replot(QCustomPlot::rpQueuedRefresh);
}

void PlotCanvas::paint_cross() { layer("overlay")->replot(); }

// The header is first, because the axes get the remaining height.
void PlotCanvas::lay_out(QSize size) {
  const double header = lay_out_header(size);
  lay_out_axes(size, header);
}

double PlotCanvas::lay_out_header(QSize size) {
  const QFontMetricsF metrics(font());
  scene_.title_height = std::ceil(metrics.height() * 1.5);
  scene_.strip_height = std::ceil(metrics.height() * 1.25) + 2;
  // Reserves room for the widest value, so that the layout does not change while the crosshair
  // moves.
  const QString widest = scene_.options.y.unit == Unit::one ? "-0.0000" : "88.8 Mbit/s  ";
  const double value_width = metrics.horizontalAdvance(widest);
  std::vector<double> widths;
  for (const LegendEntry& entry : scene_.legend.entries()) {
    // Curves come first in the legend.
    const bool has_value = widths.size() < scene_.content.curves.size();
    widths.push_back(kLegendSwatchWidth + metrics.horizontalAdvance(entry.name) +
                     (has_value ? value_width : 0));
  }
  const QRectF area(kLegendInset, scene_.title_height, size.width() - 2 * kLegendInset, 0);
  const LegendLayout layout = lay_out_legend(widths, metrics.horizontalAdvance("+99 more"), area,
                                             std::ceil(metrics.height() * 1.2), kLegendRowsMax);
  scene_.legend.place(layout);
  return scene_.title_height + layout.height +
         static_cast<double>(strips_of(scene_)) * scene_.strip_height + kMarginGap;
}

double PlotCanvas::left_margin() const {
  const QFontMetricsF metrics(font());
  // A fixed width for the numbers aligns the left edges of stacked plots, as long as their numbers
  // are not wider.
  double width = metrics.horizontalAdvance("00000.00") + metrics.height();
  const auto name = [&](const QString& text) {
    width = std::max(
        width, std::min<double>(kNameWidthMax, metrics.horizontalAdvance(text)) + 2 * kMarginGap);
  };
  for (const Band& band : scene_.content.bands) name(band.name);
  for (const GanttRow& row : scene_.content.rows) name("▸ " + row.name);
  return std::ceil(width);
}

void PlotCanvas::lay_out_axes(QSize size, double header_height) {
  const QFontMetricsF metrics(font());
  const double left = left_margin();
  const bool wall_time = scene_.options.x.unit == Unit::wall_time;
  const double label_width = metrics.horizontalAdvance(wall_time ? "00:00:00" : "00000.0");
  axisRect()->setMargins(QMargins(0, static_cast<int>(header_height), 0, 0));
  // Half a label hangs over the right end of the axis.
  axisRect()->setMinimumMargins(
      QMargins(static_cast<int>(left), 0, static_cast<int>(label_width / 2) + kMarginGap, 0));
  const double data_width = std::max(1.0, size.width() - left - label_width / 2);
  const double data_height = std::max(1.0, size.height() - header_height - 3 * metrics.height());
  // Labels need some space between them: 1.7 label widths per tick, 2.5 text heights in y.
  const int requested_x = std::max(2, static_cast<int>(data_width / (label_width * 1.7)));
  // Even a low linear axis has three if they do not touch, because two may be one: 0.
  const int least_y = !scene_.log_y && data_height > 4 * metrics.height() ? 3 : 2;
  const int requested_y =
      std::max(least_y, static_cast<int>(data_height / (metrics.height() * 2.5)));

  scene_.x_ticks = ticks_for(scene_.options.x.unit, scene_.x, scene_.log_x, requested_x,
                             wall_time ? utc_offset_at(scene_.x.high) : 0);
  scene_.y_ticks = ticks_for(scene_.options.y.unit, scene_.y, scene_.log_y, requested_y);
  set_axis(xAxis, scene_.x, scene_.log_x, axis_label(scene_.options.x.name, scene_.x_ticks));
  // In a low plot the name of the y axis is beside the title, because a name longer than its axis
  // would overlap the legend.
  QString y_name = axis_label(scene_.options.y.name, scene_.y_ticks);
  scene_.y_name_above.clear();
  if (metrics.horizontalAdvance(y_name) > data_height)
    scene_.y_name_above = std::exchange(y_name, {});
  set_axis(yAxis, scene_.y, scene_.log_y, y_name);
  // The y axis of a Gantt chart has the names of its rows instead of ticks.
  const bool rows = !scene_.content.rows.empty();
  yAxis->setTicks(!rows);
  yAxis->setTickLabels(!rows);
  yAxis->grid()->setVisible(!rows);
  if (rows) {
    yAxis->setLabel({});
    scene_.y_name_above.clear();
  }
  axisRect()->setVisible(!scene_.nothing);
  for (QCPAxis* axis : {xAxis, yAxis}) {
    axis->setVisible(!scene_.nothing);
    axis->grid()->setVisible(!scene_.nothing && (axis == xAxis || !rows));
  }
}

void PlotCanvas::set_axis(QCPAxis* axis, Extent range, bool log, const QString& label) {
  axis->setScaleType(log ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
  axis->setRange(range.low, range.high);
  axis->setLabel(label);
}

// An export uses the same scene with another size; the next repaint restores the layout of the
// widget.
QImage PlotCanvas::picture(QSize size, double scale) {
  scene_.exporting = true;
  lay_out(size);
  QImage image = toPixmap(size.width(), size.height(), scale).toImage();
  scene_.exporting = false;
  return image;
}

bool PlotCanvas::write_svg(QIODevice& file, QSize size, const QString& title) {
  QSvgGenerator generator;
  generator.setOutputDevice(&file);
  generator.setSize(size);
  generator.setViewBox(QRect(QPoint(), size));
  generator.setTitle(title);
  QCPPainter painter;
  if (!painter.begin(&generator)) return false;
  painter.setMode(QCPPainter::pmVectorized);
  painter.setMode(QCPPainter::pmNoCaching);
  scene_.exporting = true;
  lay_out(size);
  toPainter(&painter, size.width(), size.height());
  scene_.exporting = false;
  return painter.end();
}

}  // namespace tributary::dashboard
