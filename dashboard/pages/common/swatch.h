// A square in a run's colour. Every page shows it beside the run's name.
//
// A function of its arguments. GUI thread only, because it makes a QPixmap.
#pragma once

#include <QColor>
#include <QPixmap>

namespace tributary::dashboard {

constexpr int kSwatchSide = 12;  // pixels, independent of the screen's scale

inline QPixmap swatch(const QColor& colour, qreal device_pixel_ratio) {
  QPixmap pixmap(QSize(kSwatchSide, kSwatchSide) * device_pixel_ratio);
  pixmap.setDevicePixelRatio(device_pixel_ratio);
  pixmap.fill(colour);
  return pixmap;
}

}  // namespace tributary::dashboard
