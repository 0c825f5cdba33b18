#include "dashboard/pages/round/layer_bits_view.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <utility>

#include "dashboard/pages/common/texts.h"
#include "dashboard/plot/data/quantity.h"

namespace tributary::dashboard {
namespace {

constexpr double kBitsShownMin = 1;  // so that few bits do not look like many
constexpr int kBarLines = 4;         // height of the bars, in lines of text
constexpr double kGapShare = 0.15;   // of a column, between its bar and the next

}  // namespace

LayerBitsView::LayerBitsView(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  hide();
}

void LayerBitsView::show_bits(std::vector<LayerBits> layers) {
  layers_ = std::move(layers);
  QString spoken = "Bits per value by layer";
  for (std::size_t i = 0; i < layers_.size(); ++i) spoken += "; " + text_of_layer(i);
  setAccessibleName(spoken);
  setVisible(!layers_.empty());
  update();
}

std::optional<std::size_t> LayerBitsView::layer_at(double x) const {
  if (layers_.empty() || x < 0 || x >= width()) return std::nullopt;
  const auto index = static_cast<std::size_t>(x / width() * static_cast<double>(layers_.size()));
  return std::min(index, layers_.size() - 1);
}

QString LayerBitsView::text_of_layer(std::size_t index) const {
  const LayerBits& layer = layers_[index];
  return plain_text(layer.layer) + ": " + text_of(Unit::one, layer.bits) + " bits";
}

QSize LayerBitsView::sizeHint() const {
  return {200, fontMetrics().lineSpacing() * (kBarLines + 1)};
}

// The first line has the title with the scale. A layer without bits has an empty column.
void LayerBitsView::paintEvent(QPaintEvent* /*event*/) {
  if (layers_.empty()) return;
  double most = kBitsShownMin;
  for (const LayerBits& layer : layers_) most = std::max(most, layer.bits);
  QPainter painter(this);
  const int title = fontMetrics().lineSpacing();
  painter.setPen(palette().color(QPalette::WindowText));
  painter.drawText(QRect(0, 0, width(), title), Qt::AlignLeft | Qt::AlignVCenter,
                   QString("Bits per value by layer, up to %1").arg(text_of(Unit::one, most)));
  const double column = static_cast<double>(width()) / static_cast<double>(layers_.size());
  const double tall = height() - title - 1;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const double bar = tall * layers_[i].bits / most;
    painter.fillRect(
        QRectF(column * static_cast<double>(i), height() - 1 - bar, column * (1 - kGapShare), bar),
        palette().color(QPalette::Highlight));
  }
  painter.drawLine(0, height() - 1, width(), height() - 1);
}

bool LayerBitsView::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* const help = static_cast<QHelpEvent*>(event);
  const std::optional<std::size_t> layer = layer_at(help->pos().x());
  if (layer) {
    QToolTip::showText(help->globalPos(), text_of_layer(*layer), this);
  } else {
    QToolTip::hideText();
  }
  return true;
}

}  // namespace tributary::dashboard
