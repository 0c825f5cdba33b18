#include <algorithm>

#include "dashboard/plot/layers/band_layout.h"
#include "dashboard/plot/layers/scene_layer.h"

namespace tributary::dashboard {
namespace {

// All in px, except the opacity of a band behind the curves.
constexpr double kStripGap = 2;
constexpr double kStretchGap = 1;   // separates neighbours of equal colour
constexpr double kGapWidthMin = 4;  // a narrower stretch has no gap
constexpr double kBehindAlpha = 0.12;
constexpr int kLabelInset = 4;
constexpr double kLabelWidthMin = 24;  // a narrower label is unreadable

}  // namespace

// Black or white, whichever has more contrast.
QColor text_on(const QColor& ground) {
  const QColor dark(16, 16, 16);
  return contrast(ground, Qt::white) > contrast(ground, dark) ? QColor(Qt::white) : dark;
}

// Tries the label, then the short label, then a shortened one; nothing if even that is too narrow.
void draw_stretch_label(QCPPainter* painter, const Stretch& stretch, const QRectF& rect,
                        const QColor& ground) {
  const double available = rect.width() - 2.0 * kLabelInset;
  const QFontMetricsF metrics(painter->font());
  const auto fits = [&](const QString& text) {
    return metrics.horizontalAdvance(text) <= available;
  };
  const bool shortened = !stretch.short_label.isEmpty() && !fits(stretch.label);
  const QString& label = shortened ? stretch.short_label : stretch.label;
  if (!fits(label) && available < kLabelWidthMin) return;
  painter->setPen(text_on(ground));
  painter->drawText(rect.adjusted(kLabelInset, 0, -kLabelInset, 0),
                    Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine,
                    metrics.elidedText(label, Qt::ElideRight, available));
}

// Strips lie above the data, from the bottom to the top.
QRectF SceneLayer::strip_rect(std::size_t index) const {
  const QRectF rect = data_rect();
  const double top = rect.top() - static_cast<double>(index + 1) * scene_.strip_height;
  return {rect.left(), top, rect.width(), scene_.strip_height - kStripGap};
}

void BandLayer::draw(QCPPainter* painter) {
  painter->setFont(mParentPlot->font());
  std::size_t strips = 0;
  for (const Band& band : scene_.content.bands) strips += band.behind ? 0 : 1;
  for (const Band& band : scene_.content.bands) {
    if (band.behind) {
      draw_behind(painter, band);
    } else {
      draw_strip(painter, band, strip_rect(--strips));
    }
  }
}

void BandLayer::draw_strip(QCPPainter* painter, const Band& band, const QRectF& strip) {
  painter->setPen(scene_.colours.text);
  const QRectF name(0, strip.top(), strip.left() - kLabelInset, strip.height());
  painter->drawText(
      name, Qt::AlignRight | Qt::AlignVCenter | Qt::TextSingleLine,
      QFontMetricsF(painter->font()).elidedText(band.name, Qt::ElideRight, name.width()));
  for (const BandRect& rect : band_rects(band.stretches, scene_.x_map(strip), strip)) {
    const Stretch& stretch = band.stretches[rect.stretch];
    const bool shown = scene_.shown(key_of(stretch));
    const QColor colour = shown ? scene_.colour(stretch) : scene_.colours.grid;
    QRectF filled = rect.rect;
    if (filled.width() >= kGapWidthMin) filled.setWidth(filled.width() - kStretchGap);
    painter->fillRect(filled, colour);
    draw_stretch_label(painter, stretch, rect.rect, colour);
  }
}

// The label stands in the first strip height, so that it does not cover the curves below.
void BandLayer::draw_behind(QCPPainter* painter, const Band& band) {
  const QRectF rect = data_rect();
  for (const BandRect& each : band_rects(band.stretches, scene_.x_map(rect), rect)) {
    const Stretch& stretch = band.stretches[each.stretch];
    QColor colour = scene_.colour(stretch);
    colour.setAlphaF(static_cast<float>(kBehindAlpha));
    painter->fillRect(each.rect, colour);
    const QRectF top(each.rect.left(), rect.top(), each.rect.width(), scene_.strip_height);
    draw_stretch_label(painter, stretch, top, scene_.colours.ground);
  }
}

}  // namespace tributary::dashboard
