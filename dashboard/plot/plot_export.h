// What is in sight of a view, as files and as an image: pictures as PNG and SVG, and a table of the
// samples in sight as CSV (RFC 4180).
//
// An export shows the view as it was when PlotView::exporter() made it; use it at once, for it
// refers to what the view shows. A size is 1 to 16384 pixels a side. Files are written whole or not
// at all. Errors: invalid_argument for a size, io_error for a file.
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

  // `scale`: pixels of the image per pixel of `size`, as on a display with a high resolution.
  QImage picture(QSize size, double scale = 1);
  Status png(const QString& file, QSize size, double scale = 1);
  Status svg(const QString& file, QSize size);
  Status csv(const QString& file) const;

 private:
  PlotCanvas& canvas_;
  const Scene& scene_;
};

}  // namespace tributary::dashboard
