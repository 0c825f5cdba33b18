// One agent: what it is, where the time of its rounds goes, how its learning and its links do.
#pragma once

#include <QWidget>
#include <cstdint>
#include <string>

#include "core/run/view/run_view.h"
#include "dashboard/pages/agents/agent_series.h"
#include "dashboard/pages/common/curve_list.h"
#include "dashboard/plot/plot_group.h"
#include "dashboard/plot/plot_view.h"

class QGridLayout;
class QLabel;

namespace tributary::dashboard {

class AgentPanel : public QWidget {
  Q_OBJECT

 public:
  // The group must outlive it.
  explicit AgentPanel(PlotGroup& group, QWidget* parent = nullptr);

  // An agent that the run does not know, or none: says what to do.
  void show_agent(const RunView& view, const AgentSubject& subject, const AxisText& x_axis);
  void show_none();

  PlotView& time_plot() { return *time_; }
  PlotView& metrics_plot() { return *metrics_; }
  PlotView& delay_plot() { return *delay_; }
  PlotView& rate_plot() { return *rate_; }
  PlotView& device_plot() { return *device_; }
  QString heading() const;

 signals:
  void x_clicked(double x);  // in the picture of the rounds' time

 private:
  PlotView* add_plot(PlotView::Options options);
  void lay_out();
  void draw_curves();
  void draw_metrics(const RunView& view);

  PlotGroup& group_;
  QLabel* heading_;
  QGridLayout* grid_;
  PlotView* time_;
  PlotView* metrics_;
  PlotView* delay_;
  PlotView* rate_;
  PlotView* device_;  // only where there are readings
  AgentSeries series_;
  AgentSubject subject_;
  CurveList time_curves_;
  CurveList metrics_curves_;
  CurveList delay_curves_;
  CurveList rate_curves_;
  CurveList device_curves_;
};

}  // namespace tributary::dashboard
