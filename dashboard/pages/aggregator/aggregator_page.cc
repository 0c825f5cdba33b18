#include "dashboard/pages/aggregator/aggregator_page.h"

#include <QDateTime>
#include <QHeaderView>
#include <QLabel>
#include <QPlainTextEdit>
#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "dashboard/pages/common/texts.h"

namespace tributary::dashboard {
namespace {

constexpr const char* kNoAggregator =
    "No aggregator has connected.\n\n"
    "On the gateway:  tributary-switchd --join gateway-1.join --set switch.listen=ADDRESS:4650\n"
    "In the job's file:  collective = \"in_network\"";
constexpr const char* kNoIncident = "No events of aggregators.";
constexpr const char* kUnknownText = "unknown";
// Larger than any window, so that the proportions do not depend on the contents.
const QList<int> kUpperShares = {6500, 3500};  // of the width: topology, summary
const QList<int> kPageShares = {5000, 2300, 2700};
constexpr int kSummaryWidthMin = 220;  // pixels
constexpr qint64 kTicksPerMs = 1'000'000;

QString of_all(std::uint64_t part, std::uint64_t all) {
  return QString("%1 of %2").arg(grouped(part), grouped(all));
}

// Replaces an identifier that the journal does not have.
QString id_or_unknown(const std::string& id) {
  return id.empty() ? QString(kUnknownText) : plain_text(id);
}

TopologyPath path_of(const AggregatorFacts& facts) {
  if (facts.in_use) return TopologyPath::in_network;
  if (!facts.newest_round) return TopologyPath::unknown;
  return facts.newest_collective == "star" ? TopologyPath::star : TopologyPath::other;
}

QString topology_title(const AggregatorFacts& facts) {
  if (!facts.newest_round) return "Collective of the newest round: unknown";
  const QString round = QString("Round %1: ").arg(*facts.newest_round);
  if (facts.in_use) return round + "summed in the network by " + id_or_unknown(facts.used_id);
  return round + "collective " + plain_text(facts.newest_collective);
}

QString incident_text(const EventRow& event) {
  QString text =
      QDateTime::fromMSecsSinceEpoch(event.at_wall_ns / kTicksPerMs).toString("HH:mm:ss  ");
  if (event.round > 0) text += QString("round %1  ").arg(event.round);
  text += words_of(event.name);
  if (!event.reason.empty()) text += " (" + words_of(event.reason) + ")";
  if (!event.source.empty()) text += ", " + plain_text(event.source);
  return event.text.empty() ? text : text + ": " + plain_text(event.text);
}

// The rows of one aggregator stand one after the other.
std::vector<TopologyAggregator> connected_aggregators(const AggregatorFacts& facts) {
  std::vector<TopologyAggregator> all;
  for (const AggregatorRow& row : facts.rows) {
    const QString id = plain_text(row.id);
    if (!row.connected || (!all.empty() && all.back().id == id)) continue;
    all.push_back({.id = id, .address = plain_text(row.address)});
  }
  return all;
}

}  // namespace

AggregatorPage::AggregatorPage(PageContext& context, QWidget* parent)
    : RunPage(context, parent), clock_([this] { update_now(); }) {
  topology_ = new TopologyView(this);
  summary_ = new QLabel(this);
  summary_->setTextFormat(Qt::PlainText);
  summary_->setWordWrap(true);
  summary_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  summary_->setMargin(6);
  summary_->setMinimumWidth(kSummaryWidthMin);
  summary_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  summary_->setAccessibleName("Rounds by collective");
  table_ = new TableView(model_, this);
  table_->setAccessibleName("Aggregators");
  table_->horizontalHeader()->setStretchLastSection(true);
  incidents_ = new QPlainTextEdit(this);
  incidents_->setReadOnly(true);
  incidents_->setTabChangesFocus(true);
  incidents_->setAccessibleName("Events of aggregators");
  incidents_->setPlaceholderText(kNoIncident);
  auto* const upper = new QSplitter(Qt::Horizontal, this);
  upper->setChildrenCollapsible(false);
  upper->addWidget(topology_);
  upper->addWidget(summary_);
  upper->setSizes(kUpperShares);
  auto* const all = new QSplitter(Qt::Vertical, this);
  all->setChildrenCollapsible(false);
  all->addWidget(upper);
  all->addWidget(table_);
  all->addWidget(incidents_);
  all->setSizes(kPageShares);
  for (int i = 0; i < 3; ++i) all->setStretchFactor(i, kPageShares[i] / 100);
  for (int i = 0; i < 2; ++i) upper->setStretchFactor(i, kUpperShares[i] / 100);
  auto* const layout = new QVBoxLayout(this);
  layout->addWidget(all);
  setFocusProxy(table_);
  forget();
}

void AggregatorPage::take_run() {
  forget();
  if (run()) {
    connect(run(), &RunSession::round_read, this, &AggregatorPage::take);
    connect(run(), &RunSession::round_not_read, this, &AggregatorPage::take_failure);
  }
}

void AggregatorPage::forget() {
  job_ = run() ? run()->job() : 0;
  seen_ = {};
  shown_.clear();
  facts_ = {};
  asked_.reset();
  reason_.reset();
  model_.clear();
  topology_->clear();
  summary_->setText(run() ? QString() : QString(kNoRunOpen));
  incidents_->clear();
  table_->set_empty_text(kNoRunOpen);
}

void AggregatorPage::refresh() {
  if (run() && seen_.is_new(run()->job(), revisions())) clock_.touch(isVisible());
}

std::vector<std::uint64_t> AggregatorPage::revisions() const {
  const RunView::Revisions& now = run()->view().revisions();
  return {now.jobs, now.rounds, now.agents, now.events};
}

void AggregatorPage::showEvent(QShowEvent* event) {
  RunPage::showEvent(event);
  clock_.run_now();
}

void AggregatorPage::update_now() {
  if (!run()) return;
  if (run()->job() != job_) forget();
  table_->set_empty_text(kNoAggregator);
  shown_ = revisions();
  facts_ = aggregator_facts(run()->view(), job_);
  model_.update(facts_.rows);
  ask_reason();
  show_topology();
  show_summary();
  show_incidents();
}

// At most one request is in flight.
void AggregatorPage::ask_reason() {
  const auto round = facts_.newest_star_round;
  if (!run() || !isVisible() || !round || asked_ || (reason_ && reason_->round == *round)) return;
  asked_ = round;
  run()->ask_round(job_, *round);
}

// Details requested by another page arrive here too. Such a request may have replaced this page's
// own, which is therefore sent again.
void AggregatorPage::take(const std::shared_ptr<const RoundDetail>& detail) {
  if (!detail || detail->job != job_) return;
  if (detail->round == asked_ || detail->round == facts_.newest_star_round) {
    QString text = detail->planned ? plain_text(detail->sentence) : QString();
    reason_ = {.round = detail->round, .text = std::move(text)};
    show_summary();
  }
  asked_.reset();
  ask_reason();
}

void AggregatorPage::take_failure(std::uint64_t round, const QString& why) {
  if (round == asked_) {
    reason_ = {.round = round, .text = QString("unknown (%1)").arg(why)};
    show_summary();
  }
  asked_.reset();
  ask_reason();
}

void AggregatorPage::show_topology() {
  Topology shown = {.path = path_of(facts_), .title = topology_title(facts_)};
  const RunView& view = run()->view();
  ColourSlots& colours = context().group().colours();
  const bool dark = plot_colours(palette()).dark;
  for (const AgentRow& agent : view.agents()) {
    const bool of_job = agent.info.job == job_ || view.agent_curves(job_, agent.info.agent_id);
    if (!of_job) continue;
    const QString key = QString::fromStdString(agent.info.agent_id);
    const QString id = plain_text(agent.info.agent_id);
    shown.agents.push_back({.id = id,
                            .connected = agent.info.connected,
                            .colour = slot_colour(colours.slot_of(key), dark)});
  }
  std::ranges::sort(shown.agents, {}, &TopologyAgent::id);
  for (TopologyAggregator& one : connected_aggregators(facts_)) {
    const bool used = facts_.in_use && one.id == plain_text(facts_.used_id);
    if (!used) shown.not_used.push_back(std::move(one));
  }
  if (facts_.in_use) {
    shown.used = {.id = id_or_unknown(facts_.used_id), .address = "address unknown"};
    for (const AggregatorRow& row : facts_.rows) {
      if (row.id == facts_.used_id && !row.address.empty()) {
        shown.used->address = plain_text(row.address);
      }
    }
  }
  topology_->show_topology(std::move(shown));
}

// Each line has a subject before the colon.
void AggregatorPage::show_summary() {
  const RoundsSummed& rounds = facts_.rounds;
  QStringList lines;
  lines += "Rounds in the network: " + of_all(rounds.in_network, rounds.all);
  lines += "Rounds by the star: " + of_all(rounds.star, rounds.all);
  if (rounds.other > 0) lines += "Rounds by others: " + of_all(rounds.other, rounds.all);
  if (rounds.unknown > 0) lines += "Rounds without plan: " + of_all(rounds.unknown, rounds.all);
  lines += "Refused sums: " + grouped(facts_.sums_refused);
  if (facts_.newest_star_round) {
    const bool known = reason_ && reason_->round == *facts_.newest_star_round;
    const bool stated = known && !reason_->text.isEmpty();
    lines += "";
    lines += QString("Star in round %1: %2")
                 .arg(*facts_.newest_star_round)
                 .arg(stated ? reason_->text : QString(kUnknownText));
  }
  summary_->setText(lines.join('\n'));
}

// The text is replaced only if it has changed, because replacing it would drop the user's selection
// and scroll position.
void AggregatorPage::show_incidents() {
  QStringList lines;
  for (const EventRow& event : facts_.incidents) lines += incident_text(event);
  const QString text = lines.join('\n');
  if (text != incidents_->toPlainText()) incidents_->setPlainText(text);
}

bool AggregatorPage::settled() const {
  if (!run() || !run()->trouble().ok()) return true;
  return run()->caught_up() && shown_ == revisions() && !asked_;
}

QString AggregatorPage::summary() const { return summary_->text(); }
QString AggregatorPage::incidents() const { return incidents_->toPlainText(); }

}  // namespace tributary::dashboard
