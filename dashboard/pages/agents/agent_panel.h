// The charts of one agent: the time of its rounds by phase, its metrics, its links and its sensors.
//
// GUI thread only. The panel keeps no reference to a RunView between calls.
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
  // The group must outlive the panel.
  explicit AgentPanel(PlotGroup& group, QWidget* parent = nullptr);

  // Draws the agent. An agent that the run does not know is treated like none.
  void show_agent(const RunView& view, const AgentSubject& subject, const AxisText& x_axis);
  // Clears the charts and asks the user to choose an agent.
  void show_none();

  // Access for tests.
  PlotView& time_plot() { return *time_; }
  PlotView& metrics_plot() { return *metrics_; }
  PlotView& delay_plot() { return *delay_; }
  PlotView& rate_plot() { return *rate_; }
  PlotView& device_plot() { return *device_; }
  // The line above the charts: identifier, state, device and key figures of the agent.
  QString heading() const;

 signals:
  void x_clicked(double x);  // a click in the chart of the round time

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
  PlotView* device_;  // hidden without readings
  AgentSeries series_;
  AgentSubject subject_;
  CurveList time_curves_;
  CurveList metrics_curves_;
  CurveList delay_curves_;
  CurveList rate_curves_;
  CurveList device_curves_;
};

}  // namespace tributary::dashboard
