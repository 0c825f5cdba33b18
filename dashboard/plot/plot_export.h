// Exports the visible part of a view: pictures as PNG and SVG, an image, and a table of the visible
// samples as CSV (RFC 4180).
//
// An export refers to the state of the view when PlotView::exporter() created it; use it at once.
// Each side of a picture must have 1 to 16384 pixels. Files are written completely or not at all.
// Errors: invalid_argument for a size, io_error for a file.
#pragma once

#include <QImage>
#include <QSize>
#include <QString>

#include "core/base/status.h"

namespace tributary::dashboard {

class PlotCanvas;
struct Scene;

class PlotExport {
 public:
  PlotExport(PlotCanvas& canvas, const Scene& scene) : canvas_(canvas), scene_(scene) {}

  // `scale` is the number of image pixels per pixel of `size`, as on a high-resolution display.
  QImage picture(QSize size, double scale = 1);
  Status png(const QString& file, QSize size, double scale = 1);
  Status svg(const QString& file, QSize size);
  Status csv(const QString& file) const;

 private:
  PlotCanvas& canvas_;
  const Scene& scene_;
};

}  // namespace tributary::dashboard
