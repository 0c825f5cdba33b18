// Paints a scene with QCustomPlot: margins, axes, layers and exports. Threads: the GUI thread.
//
// It reads the scene, writes only the layout into it, and decides nothing: content, ranges and
// input are the view's. paint_cross() leaves the curves as they are, so that the crosshair follows
// the pointer at once.
#pragma once

#include <qcustomplot.h>

#include "dashboard/plot/layers/scene.h"

namespace tributary::dashboard {

class PlotCanvas : public QCustomPlot {
 public:
  // The scene must outlive the canvas. The canvas stores its layout in the scene.
  PlotCanvas(Scene& scene, QWidget* parent);

  // Computes the layout and repaints everything.
  void paint_all();
  void paint_cross();  // only the crosshair, the frame and the legend's values
  void recolour();     // call after a change of the scene's colours

  QRect data_rect() const { return axisRect()->rect(); }

  // Render the scene at another size, without a focus mark.
  QImage picture(QSize size, double scale);
  bool write_svg(QIODevice& file, QSize size, const QString& title);

 private:
  void lay_out(QSize size);
  double lay_out_header(QSize size);  // returns the height
  void lay_out_axes(QSize size, double header_height);
  void set_axis(QCPAxis* axis, Extent range, bool log, const QString& label);
  double left_margin() const;

  Scene& scene_;
};

}  // namespace tributary::dashboard
