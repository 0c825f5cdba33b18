#include "dashboard/tables/cells/table_delegate.h"

#include <QPainter>
#include <QPolygonF>
#include <algorithm>
#include <cmath>
#include <vector>

#include "dashboard/plot/data/palette.h"
#include "dashboard/tables/cells/table_model.h"

namespace tributary::dashboard {
namespace {

constexpr int kCurveInset = 4;  // pixels
constexpr std::size_t kWarningSlot = 3;
constexpr std::size_t kErrorSlot = 1;
constexpr std::size_t kGoodSlot = 2;
constexpr std::size_t kCurveSlot = 0;
constexpr double kTextShare = 0.35;  // of the text colour, mixed in to keep coloured text readable

// Colours come from the slots of the charts, so that a mark has one meaning everywhere.
QColor mark_colour(CellMark mark, const QPalette& palette) {
  const PlotColours colours = plot_colours(palette);
  const auto readable = [&](std::size_t slot) {
    return mixed(slot_colour(slot, colours.dark), colours.text, kTextShare);
  };
  switch (mark) {
    case CellMark::faint:
      return colours.faint;
    case CellMark::good:
    case CellMark::chosen:
      return readable(kGoodSlot);
    case CellMark::warning:
      return readable(kWarningSlot);
    case CellMark::error:
      return readable(kErrorSlot);
    case CellMark::none:
      break;
  }
  return colours.text;
}

// Maps samples to points inside a cell.
struct CurvePlace {
  QRectF rect = {};
  Extent x = {};
  Extent y = {};

  QPointF at(Sample sample) const {
    const double width = std::max(x.high - x.low, 1e-300);
    const double height = y.high - y.low;
    const double share = height > 0 ? (sample.y - y.low) / height : 0.5;
    return {rect.left() + (sample.x - x.low) / width * rect.width(),
            rect.bottom() - share * rect.height()};
  }
};

// Returns the edges of the pixel columns in units of x. A curve is drawn with at most four samples
// per column.
std::vector<double> borders_of(const CurvePlace& place) {
  const int columns = std::max(1, static_cast<int>(place.rect.width()));
  std::vector<double> borders;
  for (int i = 0; i <= columns; ++i) {
    borders.push_back(place.x.low + (place.x.high - place.x.low) * i / columns);
  }
  return borders;
}

void draw_curve(QPainter& painter, const Series& series, const QRectF& rect) {
  const auto newest = static_cast<std::size_t>(TableDelegate::kCurveSamplesMax);
  const std::size_t first = series.size() - std::min(series.size(), newest);
  CurvePlace place = {.rect = rect, .x = {series.at(first).x, series.last()->x}, .y = {}};
  const std::optional<Extent> y = series.y_extent(place.x.low, place.x.high);
  if (!y) return;
  place.y = *y;
  std::vector<Sample> samples;
  if (place.x.low < place.x.high) series.draw(borders_of(place), samples);
  if (samples.empty()) samples.push_back(*series.last());
  QPolygonF line;
  const auto finish = [&] {
    line.size() == 1 ? painter.drawPoint(line.front()) : painter.drawPolyline(line);
    line.clear();
  };
  for (const Sample& sample : samples) {
    if (sample.x < place.x.low || sample.x > place.x.high) continue;
    // A gap ends the current line; a line with a single sample becomes a dot.
    if (std::isfinite(sample.y)) {
      line.push_back(place.at(sample));
    } else if (!line.empty()) {
      finish();
    }
  }
  if (!line.empty()) finish();
}

}  // namespace

void TableDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
  QStyledItemDelegate::initStyleOption(option, index);
  const auto mark = static_cast<CellMark>(index.data(kMarkRole).toInt());
  if (mark == CellMark::none) return;
  // Qt applies this colour only to rows that are not selected; selected rows keep their own
  // colours.
  option->palette.setColor(QPalette::Text, mark_colour(mark, option->palette));
  if (mark == CellMark::chosen || mark == CellMark::error) option->font.setBold(true);
}

void TableDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                          const QModelIndex& index) const {
  QStyledItemDelegate::paint(painter, option, index);
  const QVariant value = index.data(kCurveRole);
  if (!value.isValid()) return;
  const auto series = value.value<SharedSeries>();
  if (!series || series->empty()) return;
  const bool selected = option.state.testFlag(QStyle::State_Selected);
  const PlotColours colours = plot_colours(option.palette);
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  painter->setPen(QPen(selected ? option.palette.color(QPalette::HighlightedText)
                                : slot_colour(kCurveSlot, colours.dark),
                       1));
  draw_curve(*painter, *series,
             QRectF(option.rect).adjusted(kCurveInset, kCurveInset, -kCurveInset, -kCurveInset));
  painter->restore();
}

QSize TableDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  const QSize size = QStyledItemDelegate::sizeHint(option, index);
  const bool is_curve = index.data(kCurveRole).isValid();
  return is_curve ? QSize(std::max(size.width(), kCurveWidth), size.height()) : size;
}

}  // namespace tributary::dashboard
