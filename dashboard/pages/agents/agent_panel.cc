#include "dashboard/pages/agents/agent_panel.h"

#include <QGridLayout>
#include <QLabel>
#include <QVBoxLayout>
#include <cmath>

#include "dashboard/tables/cells/shown_text.h"

namespace tributary::dashboard {
namespace {

constexpr int kPlotHeightMin = 140;  // pixels
constexpr const char* kNoneChosen =
    "Select an agent in the table to see its rounds, metrics and links.";

// Sensor readings are recognized by the unit in their name and are not tied to a job.
bool is_reading(const std::string& metric) {
  return metric.ends_with("celsius") || metric.ends_with("watts");
}

QString reading_name(const std::string& metric) {
  return shown_text(metric) + (metric.ends_with("watts") ? " (W)" : " (°C)");
}

// Older agents reported the name of their program instead of its version, and the agents of
// 'tributary load' still do. A name says nothing here.
bool is_version(const std::string& build) {
  return !build.empty() && build.front() >= '0' && build.front() <= '9';
}

QString heading_of(const AgentRow& agent) {
  QStringList parts = {agent.info.connected ? "connected" : "away"};
  if (!agent.info.device.empty()) parts << shown_text(agent.info.device);
  if (is_version(agent.info.build)) parts << "version " + shown_text(agent.info.build);
  parts << QString("%1 rounds reported").arg(agent.reports);
  if (std::isfinite(agent.ratio)) parts << "keeps " + text_of(Unit::share, agent.ratio);
  if (std::isfinite(agent.gain)) parts << "gain " + text_of(Unit::share, agent.gain);
  return shown_text(agent.info.agent_id) + "  —  " + parts.join(", ");
}

}  // namespace

AgentPanel::AgentPanel(PlotGroup& group, QWidget* parent)
    : QWidget(parent), group_(group), heading_(new QLabel(this)), grid_(new QGridLayout) {
  auto* const layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(heading_);
  layout->addLayout(grid_, 1);
  heading_->setTextFormat(Qt::PlainText);
  heading_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  QFont bold = heading_->font();
  bold.setBold(true);
  heading_->setFont(bold);
  time_ = add_plot({.title = "Round time",
                    .y = {"Time", Unit::seconds},
                    .empty_text = "This agent has not reported a round yet.",
                    .y_from_zero = true});
  metrics_ = add_plot({.title = "Metrics",
                       .y = {"Value", Unit::one},
                       .empty_text = "This agent has not reported a metric yet."});
  delay_ = add_plot({.title = "Link latency (α)",
                     .y = {"Latency", Unit::seconds},
                     .empty_text = "The links of this agent have not been measured yet."});
  rate_ = add_plot({.title = "Link rate (1/β)",
                    .y = {"Rate", Unit::bits_per_second},
                    .empty_text = "The links of this agent have not been measured yet."});
  device_ = add_plot(
      {.title = "Temperature and power", .y = {"Reading", Unit::one}, .y_from_zero = true});
  // Latencies and rates differ by powers of ten between links and over time.
  delay_->axes().set_log_y(true);
  rate_->axes().set_log_y(true);
  connect(time_, &PlotView::x_clicked, this, &AgentPanel::x_clicked);
  lay_out();
  show_none();
}

PlotView* AgentPanel::add_plot(PlotView::Options options) {
  auto* const plot = new PlotView(std::move(options), &group_, this);
  plot->setMinimumHeight(kPlotHeightMin);
  return plot;
}

void AgentPanel::lay_out() {
  grid_->addWidget(time_, 0, 0);
  grid_->addWidget(metrics_, 0, 1);
  grid_->addWidget(delay_, 1, 0);
  grid_->addWidget(rate_, 1, 1);
  grid_->addWidget(device_, 2, 0, 1, 2);
  for (int i = 0; i < 2; ++i) grid_->setColumnStretch(i, 1);
  device_->hide();
}

QString AgentPanel::heading() const { return heading_->text(); }

void AgentPanel::show_none() {
  subject_ = {};
  series_ = AgentSeries();
  heading_->setText(kNoneChosen);
  time_curves_.show(*time_, {});
  metrics_curves_.show(*metrics_, {});
  delay_curves_.show(*delay_, {});
  rate_curves_.show(*rate_, {});
  device_curves_.show(*device_, {});
  device_->hide();
}

void AgentPanel::show_agent(const RunView& view, const AgentSubject& subject,
                            const AxisText& x_axis) {
  const AgentRow* const agent = view.agent(subject.agent_id);
  if (!agent) {
    show_none();
    return;
  }
  heading_->setText(heading_of(*agent));
  // Setting the axis rebuilds the legends, so it is set only for a new subject.
  const bool is_new = !(subject == subject_);
  subject_ = subject;
  series_.follow(view, subject);
  if (is_new) {
    for (PlotView* plot : {time_, metrics_, delay_, rate_, device_}) plot->set_x_axis(x_axis);
  }
  draw_curves();
  draw_metrics(view);
  group_.touch();
}

void AgentPanel::draw_curves() {
  const auto part = [&](const char* key, const char* name, std::size_t number) {
    return PlotCurve{.key = key,
                     .name = name,
                     .series = series_.border(number),
                     .low = series_.border(number - 1),
                     .high = series_.border(number)};
  };
  time_curves_.show(*time_, {part("compute", "compute", 1), part("encode", "compute + encode", 2),
                             part("wait", "compute + encode + wait", 3),
                             part("decode", "compute + encode + wait + decode", 4)});
  delay_curves_.show(*delay_, {{.key = "up", .name = "up", .series = series_.alpha_up()},
                               {.key = "down", .name = "down", .series = series_.alpha_down()}});
  rate_curves_.show(*rate_, {{.key = "up", .name = "up", .series = series_.rate_up()},
                             {.key = "down", .name = "down", .series = series_.rate_down()}});
}

void AgentPanel::draw_metrics(const RunView& view) {
  std::vector<PlotCurve> metrics = {
      {.key = "training_loss", .name = "training loss", .series = series_.loss()}};
  if (!series_.gain()->empty()) {
    // Only agents of runs with a planner report a gain.
    metrics.push_back({.key = "gain", .name = "gain", .series = series_.gain()});
  }
  std::vector<PlotCurve> readings;
  for (const MetricCurve* metric : view.metrics()) {
    if (metric->agent_id != subject_.agent_id) continue;
    const bool reading = is_reading(metric->name);
    if (metric->job != subject_.job && !reading) continue;
    const TwoCurves& curves = metric->curve;
    const QString key = shown_text(metric->name);
    (reading ? readings : metrics)
        .push_back({.key = key,
                    .name = reading ? reading_name(metric->name) : QString(key).replace('_', ' '),
                    .series = subject_.over_time ? curves.over_time : curves.over_rounds});
  }
  metrics_curves_.show(*metrics_, std::move(metrics));
  device_->setVisible(!readings.empty());
  device_curves_.show(*device_, std::move(readings));
}

}  // namespace tributary::dashboard
