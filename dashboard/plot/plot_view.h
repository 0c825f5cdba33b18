// One picture: curves, bands, bars or a Gantt chart over an x axis that it shares with its group.
// All that a mouse does is a member function and has a key (dashboard/README.md); nothing here
// knows where the samples come from. Whoever has appended to a series calls PlotGroup::touch().
#pragma once

#include <QImage>
#include <QPointF>
#include <QSize>
#include <QString>
#include <QWidget>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/status.h"
#include "dashboard/plot/data/crosshair.h"
#include "dashboard/plot/data/plot_data.h"
#include "dashboard/plot/plot_group.h"

class QToolButton;

namespace tributary::dashboard {

class PlotCanvas;
struct Scene;

class PlotView : public QWidget {
  Q_OBJECT

 public:
  using Options = PlotOptions;

  // Without a group it makes one of its own. The group must outlive its views.
  explicit PlotView(Options options, PlotGroup* group = nullptr, QWidget* parent = nullptr);
  ~PlotView() override;

  // What is shown. What was hidden by its key stays hidden, and colours stay.
  void set_curves(std::vector<PlotCurve> curves);
  void set_bands(std::vector<Band> bands);
  void set_bars(std::vector<Bars> bars);
  void set_gantt(std::vector<GanttRow> rows);
  void set_empty_text(const QString& text);
  void set_x_axis(AxisText axis);  // rounds or wall time
  bool empty() const;

  PlotGroup& group() const { return *group_; }
  Extent x_range() const;
  Extent y_range() const;

  // Zooming. Each of these is one step of the group's history, and leaves live.
  void zoom_to(Extent x, std::optional<Extent> y);
  void zoom_about(QPointF pixel, double factor, bool x, bool y);  // factor < 1: closer
  void zoom_about_middle(double factor);
  void pan(double x_share, double y_share);  // of the range in sight
  void fit();
  bool undo();
  bool redo();

  bool log_y() const;
  void set_log_y(bool on);
  bool log_x() const;  // the group's
  void set_log_x(bool on);

  // The legend: one curve alone, and all again when asked twice; or one more, one less.
  void isolate(const QString& key);
  void toggle(const QString& key);
  void show_all();
  bool shown(const QString& key) const;

  // The curves' values where the group's crosshair stands; empty without one.
  std::vector<CrosshairValue> crosshair_values() const;

  // Exports. A picture of what is in sight; a table of the samples in sight.
  QImage picture(QSize size, double scale = 1);
  Status export_png(const QString& file, QSize size, double scale = 1);
  Status export_svg(const QString& file, QSize size);
  Status export_csv(const QString& file);

  // Paints at once, if there is something new; a group calls it 30 times a second at most.
  void refresh();
  std::uint64_t paints() const { return paints_; }

  // Where things are, in this widget's pixels: for those that point at them.
  QRect data_rect() const;
  QRect legend_rect(const QString& key) const;
  QPointF pixel_of(double x, double y) const;
  QString legend_value(const QString& key) const;  // as it stands beside the name

 signals:
  void x_clicked(double x);             // a click that was no drag
  void row_clicked(int row, double x);  // in a Gantt chart
  void legend_changed();
  void log_y_changed(bool on);
  void help_requested();  // "?"

 protected:
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  friend class PlotGroup;
  struct Drag;

  // For the group: what the data cover, and that what is in sight has changed.
  std::optional<Extent> data_extent() const;
  void mark_dirty() { dirty_ = true; }

  void content_changed();
  void bring_up_to_date();
  void look_up_colours();
  void list_legend();
  void fit_y();
  void update_values();
  void update_badge();
  void recolour();
  std::uint64_t revisions() const;

  bool mouse_pressed(const QMouseEvent& event);
  bool mouse_moved(const QMouseEvent& event);
  bool mouse_released(const QMouseEvent& event);
  bool wheel_turned(const QWheelEvent& event);
  void pointer_left();
  void clicked(QPointF pixel, bool one_more);
  void zoom_to_frame(const QRectF& frame, bool x, bool y);
  bool zoom_key(const QKeyEvent& event);
  bool legend_key(const QKeyEvent& event);
  void step_crosshair(int steps);
  void zoom_by_key(double factor, bool along_y);
  void pan_by(double x_share, double y_share, std::uint64_t gesture);
  void zoom_steps(double factor, QPointF pixel, bool x, bool y, std::uint64_t gesture);

  PlotGroup* group_ = nullptr;
  std::uint64_t number_ = 0;  // in the group
  std::unique_ptr<Scene> scene_;
  PlotCanvas* canvas_ = nullptr;
  QToolButton* badge_ = nullptr;
  std::unique_ptr<Drag> drag_;
  bool dirty_ = true;
  bool cross_dirty_ = false;
  std::uint64_t revisions_seen_ = 0;
  std::uint64_t paints_ = 0;
};

}  // namespace tributary::dashboard
