// A widget that shows one plot: curves, bands, bars or a Gantt chart over the x axis of its group.
//
// A view does not know the source of its samples; a producer that appends to a series calls
// PlotGroup::touch(). It paints only while it is visible, and only what changed: moving the
// crosshair does not repaint curves. axes() and legend() offer all user actions; mouse and keys use
// the same functions (PlotInput). Threads: the GUI thread.
#pragma once

#include <QString>
#include <QWidget>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "dashboard/plot/data/crosshair.h"
#include "dashboard/plot/data/plot_data.h"
#include "dashboard/plot/grouped_view.h"
#include "dashboard/plot/layers/legend.h"
#include "dashboard/plot/plot_axes.h"
#include "dashboard/plot/plot_export.h"
#include "dashboard/plot/plot_group.h"

namespace tributary::dashboard {

class LiveBadge;
class PlotCanvas;
class PlotInput;
struct Scene;

class PlotView : public QWidget, public GroupedView {
  Q_OBJECT

 public:
  using Options = PlotOptions;

  // Without a group, the view creates one. A given group must outlive its views.
  explicit PlotView(Options options, PlotGroup* group = nullptr, QWidget* parent = nullptr);
  ~PlotView() override;

  // Replace the content. Hidden keys stay hidden, and keys keep their colours.
  void set_curves(std::vector<PlotCurve> curves);
  void set_bands(std::vector<Band> bands);
  void set_bars(std::vector<Bars> bars);
  void set_gantt(std::vector<GanttRow> rows);
  void set_empty_text(const QString& text);
  void set_x_axis(AxisText axis);  // rounds or wall time
  bool empty() const { return !data_extent().has_value(); }

  PlotGroup& group() const { return *group_; }
  PlotAxes& axes() const { return *axes_; }
  Legend& legend() const;
  // Returns the curves' values at the group's crosshair; empty without a crosshair.
  std::vector<CrosshairValue> crosshair_values() const;
  // Returns an export of the currently visible content. Use it at once.
  PlotExport exporter();

  std::optional<Extent> data_extent() const override;
  void refresh() override;
  std::uint64_t paints() const { return paints_; }

 signals:
  void x_clicked(double x);             // a click, not a drag
  void row_clicked(int row, double x);  // in a Gantt chart
  void help_requested();                // the key "?"

 protected:
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void connect_parts();
  void content_changed();
  void paint_all_soon();
  void paint_cross_soon();
  void set_focused(bool focused);
  void bring_up_to_date();
  void update_values();
  void recolour();

  PlotGroup* group_ = nullptr;
  std::unique_ptr<Scene> scene_;
  PlotCanvas* canvas_ = nullptr;
  std::unique_ptr<PlotAxes> axes_;
  std::unique_ptr<PlotInput> input_;
  LiveBadge* badge_ = nullptr;
  bool dirty_ = true;
  bool cross_dirty_ = false;
  std::uint64_t revision_seen_ = 0;
  std::uint64_t paints_ = 0;
};

}  // namespace tributary::dashboard
