#include <cmath>

#include "dashboard/plot/layers/scene_layer.h"

namespace tributary::dashboard {
namespace {

// Distances in px; the last one is a share of the plot's width.
constexpr double kHeaderInset = 8;
constexpr double kSwatch = 10;
constexpr double kEmptyWidthShare = 0.7;

}  // namespace

void HeaderLayer::draw(QCPPainter* painter) {
  QFont bold = mParentPlot->font();
  bold.setBold(true);
  painter->setFont(bold);
  painter->setPen(scene_.colours.text);
  const QRectF title(kHeaderInset, 0, whole().width() - 2 * kHeaderInset, scene_.title_height);
  const QString text =
      QFontMetricsF(bold).elidedText(scene_.options.title, Qt::ElideRight, title.width());
  painter->drawText(title, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine, text);
  painter->setFont(mParentPlot->font());
  if (!scene_.nothing && !scene_.y_name_above.isEmpty()) {
    const double begin = QFontMetricsF(bold).horizontalAdvance(text) + kHeaderInset;
    const QRectF rest = title.adjusted(begin, 0, 0, 0);
    painter->setPen(scene_.colours.faint);
    painter->drawText(rest, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine,
                      QFontMetricsF(mParentPlot->font())
                          .elidedText(scene_.y_name_above, Qt::ElideRight, rest.width()));
  }
  for (const LegendEntry& entry : scene_.legend.entries()) {
    if (!entry.rect.isEmpty()) draw_entry(painter, entry);  // no room otherwise
  }
  if (scene_.legend.left_out() > 0) {
    painter->setPen(scene_.colours.faint);
    painter->drawText(scene_.legend.more_rect(), Qt::AlignLeft | Qt::AlignVCenter,
                      QString("+%1 more").arg(scene_.legend.left_out()));
  }
  if (scene_.nothing) draw_empty_text(painter);
}

// A hidden curve keeps its entry, with an empty swatch, so that it can be shown again.
void HeaderLayer::draw_entry(QCPPainter* painter, const LegendEntry& entry) {
  const bool shown = scene_.shown(entry.key);
  const QRectF& rect = entry.rect;
  const QRectF swatch(rect.left(), rect.center().y() - kSwatch / 2, kSwatch, kSwatch);
  if (shown) {
    painter->fillRect(swatch, scene_.colour(entry.key));
  } else {
    painter->setPen(scene_.colours.faint);
    painter->setBrush(Qt::NoBrush);
    painter->drawRect(swatch.adjusted(0, 0, -1, -1));
  }
  const QFontMetricsF metrics(painter->font());
  QRectF text = rect.adjusted(kSwatch + kHeaderInset / 2, 0, -kHeaderInset, 0);
  painter->setPen(shown ? scene_.colours.text : scene_.colours.faint);
  painter->drawText(text, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine,
                    metrics.elidedText(entry.name, Qt::ElideMiddle, text.width()));
  if (!shown || entry.value.isEmpty()) return;
  text.setLeft(text.left() + metrics.horizontalAdvance(entry.name) + kHeaderInset / 2);
  painter->setPen(scene_.colours.faint);
  painter->drawText(text, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine, entry.value);
}

void HeaderLayer::draw_empty_text(QCPPainter* painter) {
  painter->setPen(scene_.colours.faint);
  const QRectF all = QRectF(whole());
  const double inset = all.width() * (1 - kEmptyWidthShare) / 2;
  painter->drawText(all.adjusted(inset, scene_.title_height, -inset, 0),
                    Qt::AlignCenter | Qt::TextWordWrap, scene_.options.empty_text);
}

}  // namespace tributary::dashboard
