#include "dashboard/pages/overview/overview_page.h"

#include <QComboBox>
#include <QDateTime>
#include <QGridLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <algorithm>
#include <array>
#include <cmath>

#include "dashboard/pages/common/log_button.h"
#include "dashboard/pages/common/texts.h"

namespace tributary::dashboard {
namespace {

// The weight of the debiased exponential mean; 0 shows the raw values.
struct SmoothingChoice {
  const char* name;
  double weight;
};

constexpr std::array<SmoothingChoice, 4> kSmoothingChoices = {
    {{"Off", 0}, {"Light", 0.6}, {"Medium", 0.9}, {"Strong", 0.97}}};
constexpr int kSmoothingAtFirst = 1;
constexpr const char* kNoEvaluation =
    "No evaluation yet.\nThe coordinator evaluates its model if evaluation.path is set.";
constexpr const char* kNoRound = "No round has been committed yet.";

// An alert about the present state has no time.
QString alert_text(const Alert& alert, std::int64_t base_wall_ns) {
  QString when = "now";
  if (std::isfinite(alert.time_s)) {
    const qint64 at_ms = base_wall_ns / 1'000'000 + std::llround(alert.time_s * 1000);
    when = QDateTime::fromMSecsSinceEpoch(at_ms).toString("HH:mm:ss");
  }
  return when + (alert.error ? "  Error: " : "  Warning: ") + QString::fromStdString(alert.text);
}

}  // namespace

// The derived curves of one run. They are kept between refreshes, so that only new samples are
// processed.
struct OverviewPage::OfRun {
  struct Smoothed {
    SmoothedSeries over_rounds;
    SmoothedSeries over_time;
  };

  // Adds the curve of `metric`, smoothed if `weight` > 0. Without such a metric it adds nothing.
  void add(const RunSession& run, std::string_view metric, Smoothed& smoothed, bool over_time,
           double weight, std::vector<PlotCurve>& curves) {
    const MetricCurve* const found = run.view().metric(run.job(), metric, "");
    if (!found) return;
    const auto& raw = over_time ? found->curve.over_time : found->curve.over_rounds;
    PlotCurve curve = {.key = run.key(), .name = run.name(), .series = raw};
    if (weight > 0) {
      SmoothedSeries& mean = over_time ? smoothed.over_time : smoothed.over_rounds;
      mean.follow(raw, weight);
      curve.series = mean.series();
      curve.raw = raw;
    }
    curves.push_back(std::move(curve));
  }

  Smoothed accuracy;
  Smoothed loss;
  SavedBytes saved;
};

OverviewPage::OverviewPage(PageContext& context, QWidget* parent) : Page(context, parent) {
  PlotGroup* const group = &context.group();
  jobs_ = new JobsPanel;
  accuracy_ = new PlotView({.title = "Accuracy",
                            .x = context.x_axis(),
                            .y = {"Accuracy", Unit::share},
                            .empty_text = kNoRunOpen},
                           group);
  loss_ = new PlotView(
      {.title = "Loss", .x = context.x_axis(), .y = {"Loss", Unit::one}, .empty_text = kNoRunOpen},
      group);
  saved_ = new PlotView({.title = "Bytes saved by compression",
                         .x = context.x_axis(),
                         .y = {"Saved", Unit::bytes},
                         .empty_text = kNoRunOpen,
                         .y_from_zero = true},
                        group);
  alerts_ = new QPlainTextEdit;
  alerts_->setReadOnly(true);
  alerts_->setTabChangesFocus(true);
  alerts_->setAccessibleName("Alerts");
  alerts_->setPlaceholderText("No warnings in the last 10 minutes of the run.");
  auto* alerts_heading = new QLabel("Alerts");
  QFont bold = alerts_heading->font();
  bold.setBold(true);
  alerts_heading->setFont(bold);
  auto* alerts_side = new QVBoxLayout;
  alerts_side->addWidget(alerts_heading);
  alerts_side->addWidget(alerts_);
  auto* grid = new QGridLayout;
  grid->addWidget(accuracy_, 0, 0);
  grid->addWidget(loss_, 0, 1);
  grid->addWidget(saved_, 1, 0);
  grid->addLayout(alerts_side, 1, 1);
  for (int i : {0, 1}) {
    grid->setRowStretch(i, 1);
    grid->setColumnStretch(i, 1);
  }
  auto* all = new QVBoxLayout(this);
  all->addWidget(jobs_);
  all->addWidget(make_tools());
  all->addLayout(grid, 1);
  connect(jobs_, &JobsPanel::job_chosen, this, &OverviewPage::choose_job);
  connect(&context, &PageContext::axis_changed, this, [this] {
    for (PlotView* plot : {accuracy_, loss_, saved_}) {
      plot->set_x_axis(this->context().x_axis());
    }
    refresh();
  });
}

OverviewPage::~OverviewPage() = default;

QWidget* OverviewPage::make_tools() {
  auto* tools = new QWidget;
  auto* row = new QHBoxLayout(tools);
  row->setContentsMargins(0, 0, 0, 0);
  smoothing_box_ = new QComboBox;
  for (const SmoothingChoice& choice : kSmoothingChoices) smoothing_box_->addItem(choice.name);
  auto* smoothing_label = new QLabel("S&moothing");
  smoothing_label->setBuddy(smoothing_box_);
  auto* log_y = make_log_button("Logarithmic axes of accuracy and loss", {accuracy_, loss_});
  auto* log_x = new QToolButton;
  log_x->setText("Log x");
  log_x->setToolTip("Logarithmic x axis on all pages");
  log_x->setCheckable(true);
  row->addWidget(smoothing_label);
  row->addWidget(smoothing_box_);
  row->addSpacing(12);
  row->addWidget(log_y);
  row->addWidget(log_x);
  row->addStretch(1);
  connect(smoothing_box_, &QComboBox::currentIndexChanged, this, [this](int index) {
    smoothing_ = kSmoothingChoices[static_cast<std::size_t>(index)].weight;
    refresh();
  });
  smoothing_box_->setCurrentIndex(kSmoothingAtFirst);
  // The axis is shared by all pages, so the button also follows changes that were made elsewhere.
  SharedXAxis& x_axis = context().group().x_axis();
  connect(log_x, &QToolButton::toggled, this, [&x_axis](bool on) { x_axis.set_log(on); });
  connect(&x_axis, &SharedXAxis::log_changed, log_x, &QToolButton::setChecked);
  return tools;
}

void OverviewPage::set_runs(const std::vector<RunSession*>& runs) {
  runs_ = runs;
  // Runs that stay open keep their derived curves.
  std::map<const RunSession*, std::unique_ptr<OfRun>> kept;
  for (const RunSession* run : runs_) {
    auto& old = of_runs_[run];
    kept[run] = old ? std::move(old) : std::make_unique<OfRun>();
  }
  of_runs_ = std::move(kept);
  for (PlotView* plot : {accuracy_, loss_}) {
    plot->set_empty_text(runs_.empty() ? kNoRunOpen : kNoEvaluation);
  }
  saved_->set_empty_text(runs_.empty() ? kNoRunOpen : kNoRound);
  refresh();
}

bool OverviewPage::settled() const {
  return std::ranges::all_of(runs_, [](const RunSession* run) { return run->caught_up(); });
}

void OverviewPage::choose_job(const QString& run_key, std::uint64_t job) {
  for (RunSession* run : runs_) {
    if (run->key() == run_key) run->choose_job(job);
  }
}

// A hidden page does no work: showEvent() refreshes it.
void OverviewPage::refresh() {
  if (!isVisible()) return;
  show_jobs();
  show_curves();
  show_alerts();
  context().group().touch();
}

void OverviewPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  refresh();
}

// The selected job of each run comes first. Otherwise a run with many jobs could push another run
// out of the list.
void OverviewPage::show_jobs() {
  std::vector<JobLine> lines;
  for (const RunSession* run : runs_) {
    for (JobFacts& facts : facts_of_jobs(run->view())) {
      const bool shown = facts.job == run->job();
      lines.push_back({run->key(), run->name(), std::move(facts), shown});
    }
  }
  std::stable_partition(lines.begin(), lines.end(), [](const JobLine& line) { return line.shown; });
  jobs_->show_lines(lines, context().group().colours());
}

void OverviewPage::show_curves() {
  const bool over_time = context().over_time();
  std::vector<PlotCurve> accuracy;
  std::vector<PlotCurve> loss;
  std::vector<PlotCurve> saved;
  for (const RunSession* run : runs_) {
    OfRun& of_run = *of_runs_[run];
    of_run.add(*run, kAccuracyMetric, of_run.accuracy, over_time, smoothing_, accuracy);
    of_run.add(*run, kLossMetric, of_run.loss, over_time, smoothing_, loss);
    const RoundTable* const rounds = run->view().rounds(run->job());
    if (!rounds) continue;
    of_run.saved.follow(*rounds);
    saved.push_back({.key = run->key(),
                     .name = run->name(),
                     .series = over_time ? of_run.saved.over_time() : of_run.saved.over_rounds()});
  }
  accuracy_curves_.show(*accuracy_, std::move(accuracy));
  loss_curves_.show(*loss_, std::move(loss));
  saved_curves_.show(*saved_, std::move(saved));
}

// The text is replaced only if it has changed, because replacing it would drop the user's selection
// and scroll position.
void OverviewPage::show_alerts() {
  QStringList lines;
  for (const RunSession* run : runs_) {
    for (const Alert& alert : alerts_of(run->view(), run->trouble())) {
      const QString text = alert_text(alert, run->view().base_wall_ns());
      lines.push_back(runs_.size() > 1 ? run->name() + ": " + text : text);
    }
  }
  const QString text = lines.join('\n');
  if (text != alerts_->toPlainText()) alerts_->setPlainText(text);
}

}  // namespace tributary::dashboard
