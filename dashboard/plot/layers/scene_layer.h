// What QCustomPlot paints for us: it has the axes, the buffers and the exports, and each kind of
// content is one layerable that reads the scene. No item or legend of its own, which keep copies.
#pragma once

#include <qcustomplot.h>

#include <vector>

#include "dashboard/plot/layers/scene.h"

namespace tributary::dashboard {

class SceneLayer : public QCPLayerable {
 public:
  SceneLayer(QCPAxisRect* axes, const Scene& scene, const QString& layer)
      : QCPLayerable(axes->parentPlot(), layer), axes_(axes), scene_(scene) {}

 protected:
  void applyDefaultAntialiasingHint(QCPPainter* painter) const override {
    painter->setAntialiasing(false);
  }
  QRectF data_rect() const { return axes_->rect(); }
  // The place above the data for strip `index`, counted upward.
  QRectF strip_rect(std::size_t index) const;
  QRect whole() const { return mParentPlot->viewport(); }

  QCPAxisRect* axes_;
  const Scene& scene_;
};

// Pixels of the device per pixel of the widget.
double device_scale(const QCPPainter& painter);

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

  std::vector<QPointF> run_;  // without a gap, in pixels
  std::vector<QRect> columns_;
};

// Strips above the data, and what lies behind it.
class BandLayer : public SceneLayer {
 public:
  using SceneLayer::SceneLayer;

 protected:
  void draw(QCPPainter* painter) override;

 private:
  void draw_strip(QCPPainter* painter, const Band& band, const QRectF& strip);
  void draw_behind(QCPPainter* painter, const Band& band);
};

class BarLayer : public SceneLayer {
 public:
  using SceneLayer::SceneLayer;

 protected:
  QRect clipRect() const override { return axes_->rect(); }
  void draw(QCPPainter* painter) override;
};

class GanttLayer : public SceneLayer {
 public:
  using SceneLayer::SceneLayer;

 protected:
  void draw(QCPPainter* painter) override;

 private:
  void draw_row(QCPPainter* painter, const GanttRow& row, const QRectF& place);
};

// Title and legend above the picture, and the sentence instead of it when there is nothing to show.
class HeaderLayer : public SceneLayer {
 public:
  using SceneLayer::SceneLayer;

 protected:
  void draw(QCPPainter* painter) override;

 private:
  void draw_entry(QCPPainter* painter, const LegendEntry& entry);
  void draw_empty_text(QCPPainter* painter);
};

// Crosshair, the frame of a zoom, and who has the keyboard.
class CrossLayer : public SceneLayer {
 public:
  using SceneLayer::SceneLayer;

 protected:
  void draw(QCPPainter* painter) override;

 private:
  void draw_crosshair(QCPPainter* painter, double x);
};

// In the colour of whichever of the ground and the text is read better on it.
QColor text_on(const QColor& ground);
void draw_stretch_label(QCPPainter* painter, const Stretch& stretch, const QRectF& rect,
                        const QColor& ground);

}  // namespace tributary::dashboard
