// A square of a run's colour, as it stands beside its name everywhere.
#pragma once

#include <QColor>
#include <QPixmap>

namespace tributary::dashboard {

constexpr int kSwatchSide = 12;

inline QPixmap swatch(const QColor& colour, qreal device_pixel_ratio) {
  QPixmap pixmap(QSize(kSwatchSide, kSwatchSide) * device_pixel_ratio);
  pixmap.setDevicePixelRatio(device_pixel_ratio);
  pixmap.fill(colour);
  return pixmap;
}

}  // namespace tributary::dashboard
