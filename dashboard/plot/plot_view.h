// One picture: curves, bands, bars or a Gantt chart over the x axis of its group.
//
// A view does not know where its samples come from; whoever has appended to a series calls
// PlotGroup::touch(). It paints only while it is in sight, and only what is new: a crosshair that
// moves paints no curve. What a person can do with it is in axes() and legend(); the mouse and the
// keys do the same (PlotInput). Threads: that of the widgets.
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

  // Without a group the view makes one of its own. The group must outlive its views.
  explicit PlotView(Options options, PlotGroup* group = nullptr, QWidget* parent = nullptr);
  ~PlotView() override;

  // What is shown. What was hidden by its key stays hidden, and colours stay.
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
  // The curves' values where the group's crosshair stands; empty without one.
  std::vector<CrosshairValue> crosshair_values() const;
  // Of what is in sight now. Use it at once.
  PlotExport exporter();

  std::optional<Extent> data_extent() const override;
  void refresh() override;
  std::uint64_t paints() const { return paints_; }

 signals:
  void x_clicked(double x);             // a click that was no drag
  void row_clicked(int row, double x);  // in a Gantt chart
  void help_requested();                // "?"

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
