#include <algorithm>
#include <cmath>

#include "dashboard/plot/layers/band_layout.h"
#include "dashboard/plot/layers/scene_layer.h"

namespace tributary::dashboard {
namespace {

constexpr double kRowShare = 0.8;  // of a row's height; the rest separates rows
constexpr double kNameInset = 6;
constexpr double kLineShare =
    0.85;  // height of letters as a share of the font's height, which includes the leading
constexpr double kMarkWidth = 2;
constexpr double kMomentSide = 9;  // of the triangle at a row's upper edge

}  // namespace

void GanttLayer::draw(QCPPainter* painter) {
  if (scene_.content.rows.empty()) return;
  painter->setFont(mParentPlot->font());
  const QRectF rect = data_rect();
  if (rect.height() <= 0) return;  // the layout is not complete yet
  const double text_height = QFontMetricsF(painter->font()).height();
  const double height = rect.height() / static_cast<double>(scene_.content.rows.size());
  // If rows are too low for a name each, only every n-th row gets one.
  const auto every =
      static_cast<std::size_t>(std::max(1.0, std::ceil(text_height * kLineShare / height)));
  for (std::size_t i = 0; i < scene_.content.rows.size(); ++i) {
    const GanttRow& row = scene_.content.rows[i];
    const double top = rect.top() + static_cast<double>(i) * height;
    const double inset = height * (1 - kRowShare) / 2;
    draw_row(painter, row, {rect.left(), top + inset, rect.width(), height * kRowShare});
    if (i % every != 0) continue;
    painter->setPen(row.late ? scene_.colours.warning : scene_.colours.text);
    const QRectF name(0, top + height / 2 - text_height / 2, rect.left() - kNameInset, text_height);
    // The sign marks a straggler also for people who do not see its colour.
    const QString text = row.late ? "▸ " + row.name : row.name;
    painter->drawText(
        name, Qt::AlignRight | Qt::AlignVCenter | Qt::TextSingleLine,
        QFontMetricsF(painter->font()).elidedText(text, Qt::ElideRight, name.width()));
  }
}

void GanttLayer::draw_row(QCPPainter* painter, const GanttRow& row, const QRectF& place) {
  const AxisMap x = scene_.x_map(place);
  // Too low rows have no labels.
  const bool labels = place.height() >= QFontMetricsF(painter->font()).height();
  for (const BandRect& rect : band_rects(row.spans, x, place)) {
    const Stretch& span = row.spans[rect.stretch];
    const QColor colour = scene_.colour(span);
    if (!scene_.shown(key_of(span))) continue;
    painter->fillRect(rect.rect, colour);
    if (labels) draw_stretch_label(painter, span, rect.rect, colour);
  }
  // Deadlines are drawn over the spans.
  for (const double mark : row.marks) {
    const double at = x.pixel(mark);
    if (at < place.left() || at > place.right() || std::isnan(at)) continue;
    painter->fillRect(QRectF(at - kMarkWidth / 2, place.top(), kMarkWidth, place.height()),
                      scene_.colours.text);
  }
  painter->setAntialiasing(true);
  painter->setPen(QPen(scene_.colours.ground, 1));
  painter->setBrush(scene_.colours.warning);
  for (const GanttMoment& moment : row.moments) {
    const double at = x.pixel(moment.x);
    if (at < place.left() || at > place.right() || std::isnan(at)) continue;
    const double down = std::min(kMomentSide, place.height());
    painter->drawPolygon(QPolygonF({{at - kMomentSide / 2, place.top()},
                                    {at + kMomentSide / 2, place.top()},
                                    {at, place.top() + down}}));
  }
  painter->setAntialiasing(false);
}

}  // namespace tributary::dashboard
