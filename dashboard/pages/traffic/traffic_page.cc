#include "dashboard/pages/traffic/traffic_page.h"

#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <algorithm>
#include <cmath>

#include "dashboard/pages/common/log_button.h"
#include "dashboard/pages/common/run_facts.h"
#include "dashboard/pages/common/texts.h"

namespace tributary::dashboard {
namespace {

constexpr const char* kNoRoundYet = "No round has been committed yet.";
constexpr const char* kNoUses =
    "This run does not record the use of its messages:\nan older coordinator wrote it.";
constexpr const char* kNoReport = "No agent has reported a round yet.";
constexpr const char* kNoLink =
    "No link to an agent has been measured yet.\nThe first round measures the links.";

// Rich text: both arguments are numbers, so nothing needs escaping.
QString sent_of_dense(const char* direction, double sent, double dense) {
  QString text = QString("%1 <b>%2</b>").arg(direction, text_of(Unit::bytes, sent));
  if (!(dense > 0)) return text;
  return text + QString(" of %1 dense (%2)")
                    .arg(text_of(Unit::bytes, dense), text_of(Unit::share, sent / dense));
}

// One line per run; the name is given only if several runs are open.
QString totals_of(const RunSession& run, bool with_name) {
  const JobInfo* const job = run.job_info();
  if (!job) return with_name ? run.name().toHtmlEscaped() + ": no job yet" : "No job yet.";
  const JobFacts facts = facts_of(run.view(), *job);
  const QString text = sent_of_dense("Up", facts.bytes_up, facts.dense_up) + ", " +
                       sent_of_dense("down", facts.bytes_down, facts.dense_down) +
                       QString(" in %1 rounds").arg(facts.rounds_done);
  return with_name ? run.name().toHtmlEscaped() + ": " + text : text;
}

}  // namespace

TrafficPage::TrafficPage(PageContext& context, QWidget* parent) : Page(context, parent) {
  const auto plot = [&](const char* title, AxisText y) {
    return new PlotView({.title = title,
                         .x = context.x_axis(),
                         .y = std::move(y),
                         .empty_text = kNoRunOpen,
                         .y_from_zero = true},
                        &context.group());
  };
  up_.plot = plot("Bytes up per round", {"Up", Unit::bytes});
  down_.plot = plot("Bytes down per round", {"Down", Unit::bytes});
  up_.uses.plot = plot("Messages up by use", {"Up", Unit::bytes});
  down_.uses.plot = plot("Messages down by use", {"Down", Unit::bytes});
  agents_ = plot("Bytes per agent", {"Bytes", Unit::bytes});
  links_ = plot("Link rates", {"Rate", Unit::bits_per_second});
  links_->axes().set_log_y(true);  // links differ by more than a factor of ten
  auto* grid = new QGridLayout;
  grid->addWidget(up_.plot, 0, 0);
  grid->addWidget(down_.plot, 0, 1);
  grid->addWidget(up_.uses.plot, 1, 0);
  grid->addWidget(down_.uses.plot, 1, 1);
  grid->addWidget(agents_, 2, 0);
  grid->addWidget(links_, 2, 1);
  for (int i : {0, 1, 2}) grid->setRowStretch(i, 1);
  for (int i : {0, 1}) grid->setColumnStretch(i, 1);
  totals_ = new QLabel;
  totals_->setWordWrap(true);
  auto* all = new QVBoxLayout(this);
  all->addWidget(totals_);
  all->addWidget(make_tools());
  all->addLayout(grid, 1);
  // The other layers close up when the user hides one.
  for (Uses* uses : {&up_.uses, &down_.uses}) {
    connect(&uses->plot->legend(), &Legend::changed, this, [this, uses] { show_uses(*uses); });
  }
  connect(&context, &PageContext::axis_changed, this, [this] {
    for (PlotView* view : {up_.plot, down_.plot, up_.uses.plot, down_.uses.plot, agents_, links_}) {
      view->set_x_axis(this->context().x_axis());
    }
    refresh();
  });
}

TrafficPage::~TrafficPage() = default;

QWidget* TrafficPage::make_tools() {
  auto* tools = new QWidget;
  auto* row = new QHBoxLayout(tools);
  row->setContentsMargins(0, 0, 0, 0);
  direction_ = new QComboBox;
  direction_->addItems({"Up", "Down"});
  auto* label = new QLabel("A&gents and links");
  label->setBuddy(direction_);
  auto* log_y = make_log_button("Logarithmic axes of bytes", {up_.plot, down_.plot, agents_});
  agents_note_ = new QLabel;
  row->addWidget(label);
  row->addWidget(direction_);
  row->addSpacing(12);
  row->addWidget(log_y);
  row->addSpacing(12);
  row->addWidget(agents_note_, 1);
  connect(direction_, &QComboBox::currentIndexChanged, this, [this] { refresh(); });
  return tools;
}

// Each chart has its own empty text, which names what is missing.
void TrafficPage::set_runs(const std::vector<RunSession*>& runs) {
  runs_ = runs;
  const bool none = runs_.empty();
  for (PlotView* plot : {up_.plot, down_.plot})
    plot->set_empty_text(none ? kNoRunOpen : kNoRoundYet);
  for (Uses* uses : {&up_.uses, &down_.uses}) {
    if (none) uses->plot->set_empty_text(uses->empty_text = kNoRunOpen);
  }
  agents_->set_empty_text(none ? kNoRunOpen : kNoReport);
  links_->set_empty_text(none ? kNoRunOpen : kNoLink);
  refresh();
}

bool TrafficPage::settled() const {
  return std::ranges::all_of(runs_, [](const RunSession* run) { return run->caught_up(); });
}

QString TrafficPage::totals() const { return totals_->text(); }

// A hidden page does no work: showEvent() refreshes it.
void TrafficPage::refresh() {
  if (!isVisible()) return;
  // Agents and rounds of another run or job are unrelated, although identifiers and numbers are the
  // same. The derived curves are dropped.
  const std::pair of(first(), first() ? first()->job() : 0);
  if (of != of_) {
    of_ = of;
    of_agents_.clear();
  }
  show_totals();
  show_rounds();
  show_uses(up_.uses);
  show_uses(down_.uses);
  show_agents();
  show_links();
  context().group().touch();
}

void TrafficPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  refresh();
}

void TrafficPage::show_totals() {
  QStringList lines;
  for (const RunSession* run : runs_) lines.push_back(totals_of(*run, runs_.size() > 1));
  const QString text = lines.join("<br>");
  if (text != totals_->text()) totals_->setText(text);
  totals_->setVisible(!text.isEmpty());
}

// All open runs, each in its own colour, with the dense size beside the sent bytes.
void TrafficPage::show_rounds() {
  std::vector<PlotCurve> up;
  std::vector<PlotCurve> down;
  const auto add = [&](std::vector<PlotCurve>& to, const RunSession& run, const TwoCurves& curve,
                       const QString& what) {
    // A run has its own colour on every page. Its dense curve has the pale tone of that colour, so
    // it takes no slot that an agent would get otherwise.
    const bool dense = what == "dense";
    to.push_back({.key = dense ? run.key() + " dense" : run.key(),
                  .name = runs_.size() > 1 ? run.name() + " " + what : what,
                  .colour_key = run.key(),
                  .pale = dense,
                  .series = context().over_time() ? curve.over_time : curve.over_rounds});
  };
  for (const RunSession* run : runs_) {
    const RoundTable* const rounds = run->view().rounds(run->job());
    if (!rounds) continue;
    add(up, *run, rounds->curves.bytes_up, "sent");
    add(down, *run, rounds->curves.bytes_down, "sent");
    add(up, *run, rounds->curves.dense_up, "dense");
    add(down, *run, rounds->curves.dense_down, "dense");
  }
  up_.curves.show(*up_.plot, std::move(up));
  down_.curves.show(*down_.plot, std::move(down));
}

// Only of the first run: stacks of several runs could not be told from one another.
void TrafficPage::show_uses(Uses& uses) {
  if (!first()) return uses.curves.show(*uses.plot, {});
  MessageStack::Selection selection = {.job = first()->job(),
                                       .up = &uses == &up_.uses,
                                       .over_time = context().over_time(),
                                       .all_read = first()->caught_up()};
  for (const MessageUseNames& names : kMessageUseNames) {
    selection.shown[static_cast<std::size_t>(names.use)] =
        uses.plot->legend().shown(MessageStack::key_of(names.use));
  }
  uses.stack.follow(first()->view(), selection);
  std::vector<PlotCurve> curves = uses.stack.curves();
  const RoundTable* const rounds = first()->view().rounds(first()->job());
  const bool silent = curves.empty() && rounds && rounds->size() > 0;
  const QString why = silent ? kNoUses : kNoRoundYet;
  // Setting the same text again would repaint the plot at each refresh.
  if (why != uses.empty_text) uses.plot->set_empty_text(uses.empty_text = why);
  uses.curves.show(*uses.plot, std::move(curves));
}

// Always the first agents, so that the selection does not change while the user looks at the chart.
std::vector<std::string> TrafficPage::agents_shown() const {
  std::vector<std::string> ids;
  if (!first()) return ids;
  for (const AgentRow& row : first()->view().agents()) {
    if (ids.size() == kAgentsMax) break;
    if (!row.info.agent_id.empty()) ids.push_back(row.info.agent_id);
  }
  std::ranges::sort(ids);
  return ids;
}

// Names the run if several are open, because agents are those of the first one.
void TrafficPage::show_agent_count(std::size_t shown) {
  QString note;
  if (first() && runs_.size() > 1) note = "Agents and links of " + first()->name() + ". ";
  const std::size_t all = first() ? first()->view().agents().size() : 0;
  if (all > shown) {
    note += QString("The first %1 of %2 agents are shown; the page Agents lists all.")
                .arg(shown)
                .arg(all);
  }
  if (note != agents_note_->text()) agents_note_->setText(note);
}

void TrafficPage::show_agents() {
  const std::vector<std::string> ids = agents_shown();
  show_agent_count(ids.size());
  std::vector<PlotCurve> curves;
  for (const std::string& id : ids) {
    const AgentCurves* const found = first()->view().agent_curves(first()->job(), id);
    const RoundTable* const rounds = first()->view().rounds(first()->job());
    if (!found || !rounds) continue;
    SharedSeries series = down() ? found->bytes_down : found->bytes_up;
    if (context().over_time()) {
      FollowingSeries& following = of_agents_[id].directions[down() ? 1 : 0].bytes_over_time;
      following.follow(series, [&](Sample sample) -> std::optional<Sample> {
        const std::optional<double> time_s = time_of_round(*rounds, sample.x);
        if (!time_s) return std::nullopt;
        return Sample{*time_s, sample.y};
      });
      series = following.series();
    }
    const QString name = QString::fromStdString(id);
    curves.push_back({.key = name, .name = name, .series = std::move(series)});
  }
  agent_curves_.show(*agents_, std::move(curves));
}

// Over rounds a sample waits until its round has been committed or the job has ended.
SharedSeries TrafficPage::rate_of(const LinkCurves& link, DirectionSeries& direction) {
  direction.rate.follow(link.beta_s_per_byte, [](Sample sample) -> std::optional<Sample> {
    return Sample{sample.x, bits_per_second(sample.y)};
  });
  if (context().over_time()) return direction.rate.series();
  const RoundTable* const rounds = first()->view().rounds(first()->job());
  if (!rounds) return nullptr;
  const std::optional<double> tail_s = end_of_tail(first()->view(), first()->job());
  direction.rate_over_rounds.follow(
      direction.rate.series(), [&](Sample sample) -> std::optional<Sample> {
        const std::optional<double> round = round_at(*rounds, sample.x, tail_s);
        if (!round) return std::nullopt;
        return Sample{*round, sample.y};
      });
  return direction.rate_over_rounds.series();
}

// Colours are those of the agents on the other pages.
void TrafficPage::show_links() {
  std::vector<PlotCurve> curves;
  for (const std::string& id : agents_shown()) {
    const RunView& view = first()->view();
    const LinkCurves* const link = down() ? view.link("", id) : view.link(id, "");
    if (!link || !std::isfinite(link->beta_last_s_per_byte)) continue;
    SharedSeries series = rate_of(*link, of_agents_[id].directions[down() ? 1 : 0]);
    const QString name = QString::fromStdString(id);
    if (series) curves.push_back({.key = name, .name = name, .series = std::move(series)});
  }
  link_curves_.show(*links_, std::move(curves));
}

bool TrafficPage::down() const { return direction_->currentIndex() == 1; }

}  // namespace tributary::dashboard
