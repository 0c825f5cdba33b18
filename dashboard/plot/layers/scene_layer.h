// Layers that draw a scene. QCustomPlot provides axes, buffers and exports; each kind of content is
// one layerable that reads the scene. QCustomPlot's own items and legend are not used, because they
// copy the data.
//
// Threads: the GUI thread. The scene must outlive its layers; QCustomPlot owns the layers.
#pragma once

#include <qcustomplot.h>

#include <vector>

#include "dashboard/plot/layers/scene.h"

namespace tributary::dashboard {

// The base of all layers: access to the scene and to the rectangles of the plot.
class SceneLayer : public QCPLayerable {
 public:
  SceneLayer(QCPAxisRect* axes, const Scene& scene, const QString& layer)
      : QCPLayerable(axes->parentPlot(), layer), axes_(axes), scene_(scene) {}

 protected:
  void applyDefaultAntialiasingHint(QCPPainter* painter) const override {
    painter->setAntialiasing(false);
  }
  QRectF data_rect() const { return axes_->rect(); }
  // Returns the rectangle of strip `index` above the data, counted upwards.
  QRectF strip_rect(std::size_t index) const;
  QRect whole() const { return mParentPlot->viewport(); }

  QCPAxisRect* axes_;
  const Scene& scene_;
};

// Returns the device pixels per widget pixel.
double device_scale(const QCPPainter& painter);

// Draws the curves, their bands and their raw values.
class CurveLayer : public SceneLayer {
 public:
  using SceneLayer::SceneLayer;

 protected:
  QRect clipRect() const override { return axes_->rect(); }
  void draw(QCPPainter* painter) override;

 private:
  void draw_line(QCPPainter* painter, const std::vector<Sample>& samples, const QColor& colour,
                 bool fine);
  void draw_run(QCPPainter* painter, const QColor& colour, bool fine);
  void draw_columns(QCPPainter* painter, const QColor& colour);
  void draw_thin(QCPPainter* painter, const QColor& colour);
  void draw_area(QCPPainter* painter, const PlotCurve& curve, const std::vector<double>& borders);
  std::vector<QPointF> to_pixels(const std::vector<Sample>& samples) const;

  std::vector<QPointF> run_;  // the current run of points without a gap, in pixels
  std::vector<QRect> columns_;
};

// Draws the strips above the data and the bands behind it.
class BandLayer : public SceneLayer {
 public:
  using SceneLayer::SceneLayer;

 protected:
  void draw(QCPPainter* painter) override;

 private:
  void draw_strip(QCPPainter* painter, const Band& band, const QRectF& strip);
  void draw_behind(QCPPainter* painter, const Band& band);
};

// Draws histograms and densities.
class BarLayer : public SceneLayer {
 public:
  using SceneLayer::SceneLayer;

 protected:
  QRect clipRect() const override { return axes_->rect(); }
  void draw(QCPPainter* painter) override;
};

// Draws the rows of a Gantt chart with their spans, deadlines and failures.
class GanttLayer : public SceneLayer {
 public:
  using SceneLayer::SceneLayer;

 protected:
  void draw(QCPPainter* painter) override;

 private:
  void draw_row(QCPPainter* painter, const GanttRow& row, const QRectF& place);
};

// Draws the title and the legend above the plot, or the empty-state text.
class HeaderLayer : public SceneLayer {
 public:
  using SceneLayer::SceneLayer;

 protected:
  void draw(QCPPainter* painter) override;

 private:
  void draw_entry(QCPPainter* painter, const LegendEntry& entry);
  void draw_empty_text(QCPPainter* painter);
};

// Draws the crosshair, the zoom frame and the keyboard focus.
class CrossLayer : public SceneLayer {
 public:
  using SceneLayer::SceneLayer;

 protected:
  void draw(QCPPainter* painter) override;

 private:
  void draw_crosshair(QCPPainter* painter, double x);
};

// Returns the background or text colour, whichever has the better contrast on `ground`.
QColor text_on(const QColor& ground);
void draw_stretch_label(QCPPainter* painter, const Stretch& stretch, const QRectF& rect,
                        const QColor& ground);

}  // namespace tributary::dashboard
