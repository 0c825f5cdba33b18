#include "dashboard/pages/decisions/decisions_page.h"

#include <QHeaderView>
#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>

#include "dashboard/pages/common/texts.h"
#include "dashboard/pages/decisions/decision_pictures.h"
#include "dashboard/pages/plan/decision_facts.h"
#include "dashboard/pages/plan/decision_view.h"

namespace tributary::dashboard {
namespace {

// Older decisions are not listed in the table. The bands still show them.
constexpr std::size_t kDecisionsMax = BeliefCurves::kBeliefsMax;
// New beliefs that are drawn at once while more plans are read.
constexpr std::size_t kBeliefsAtOnce = 32;

}  // namespace

DecisionsPage::DecisionsPage(PageContext& context, QWidget* parent)
    : RunPage(context, parent),
      pictures_(new DecisionPictures(context.group(), this)),
      decision_(new DecisionView(context.group().colours(), this)),
      table_view_(new TableView(decisions_, this)) {
  lay_out();
  connect(pictures_, &DecisionPictures::clicked, this, [this](double x) {
    const RoundTable* const table = rounds();
    if (table) choose(round_next_to(*table, DecisionsPage::context().over_time(), x));
  });
  connect(table_view_, &TableView::row_chosen, this,
          [this](int row) { choose(decisions_.row_at(row).round); });
  connect(table_view_, &TableView::row_entered, this,
          [this](int row) { emit round_requested(decisions_.row_at(row).round); });
  connect(decision_, &DecisionView::round_requested, this, &Page::round_requested);
  connect(&context, &PageContext::axis_changed, this, &DecisionsPage::refresh);
  // A return to live display also returns to the newest decision.
  SharedXAxis& x_axis = context.group().x_axis();
  connect(&x_axis, &SharedXAxis::live_changed, this, [this, &x_axis](bool live) {
    if (live && !x_axis.locked()) choose(std::nullopt);
  });
  forget();
}

DecisionsPage::~DecisionsPage() { delete table_view_; }

void DecisionsPage::lay_out() {
  auto* upper = new QSplitter(Qt::Horizontal);
  upper->addWidget(pictures_->over_rounds());
  upper->addWidget(decision_);
  upper->setStretchFactor(0, 3);
  upper->setStretchFactor(1, 2);
  auto* lower = new QSplitter(Qt::Horizontal);
  lower->addWidget(table_view_);
  lower->addWidget(pictures_->how_often());
  lower->setStretchFactor(0, 1);
  lower->setStretchFactor(1, 1);
  auto* all = new QSplitter(Qt::Vertical, this);
  all->addWidget(upper);
  all->addWidget(lower);
  all->setStretchFactor(0, 5);
  all->setStretchFactor(1, 2);
  // The proportions are fixed, so that they do not depend on the contents.
  upper->setSizes({3000, 2000});
  lower->setSizes({9000, 7000});
  all->setSizes({6000, 2200});
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(all);
  table_view_->sortByColumn(0, Qt::DescendingOrder);
  table_view_->horizontalHeader()->setStretchLastSection(true);
}

void DecisionsPage::take_run() {
  forget();
  if (run()) {
    connect(run(), &RunSession::belief_read, this, &DecisionsPage::take_belief);
    connect(run(), &RunSession::round_read, this, &DecisionsPage::take);
    connect(run(), &RunSession::round_not_read, this, &DecisionsPage::take_failure);
  }
}

void DecisionsPage::forget() {
  job_ = run() ? run()->job() : 0;
  seen_ = nullptr;
  rounds_seen_ = links_seen_ = jobs_seen_ = 0;
  choices_.clear();
  chosen_.reset();
  asked_.reset();
  unreadable_.clear();
  detail_ = nullptr;
  decisions_.clear();
  say_why_nothing();
}

void DecisionsPage::say_why_nothing() {
  const QString why = why_nothing();
  pictures_->clear(why);
  decision_->show_nothing(why);
  table_view_->set_empty_text(why);
}

const RoundTable* DecisionsPage::rounds() const {
  const RoundTable* const table = run() ? run()->view().rounds(run()->job()) : nullptr;
  return table && table->size() > 0 ? table : nullptr;
}

QString DecisionsPage::why_nothing() const {
  if (!run()) return kNoRunOpen;
  if (!run()->trouble().ok()) return plain_text(run()->trouble().text());
  if (!run()->caught_up()) return "Reading the run…";
  if (run()->job() == 0) {
    return kNoJob;
  }
  return "No round has been committed yet.";
}

void DecisionsPage::refresh() {
  if (!isVisible()) return;
  const RoundTable* const table = rounds();
  if (!table || run()->job() != job_) {
    if (seen_ || (run() && run()->job() != job_)) forget();
    if (!table) {
      say_why_nothing();
      return;
    }
  }
  const RunView& view = run()->view();
  // A revision that decreases means that the table was restarted at the same address.
  const bool anew = table != seen_ || table->revision() < rounds_seen_;
  if (anew && seen_) forget();
  const bool other_axis = context().over_time() != over_time_seen_;
  const bool rounds_changed = anew || table->revision() != rounds_seen_;
  // The end of a job determines the position of its last measurements, so jobs are checked too.
  const RunView::Revisions& now = view.revisions();
  const bool links_changed = now.links != links_seen_ || now.jobs != jobs_seen_;
  if (!rounds_changed && !other_axis && !links_changed) return;
  seen_ = table;
  rounds_seen_ = table->revision();
  links_seen_ = now.links;
  jobs_seen_ = now.jobs;
  over_time_seen_ = context().over_time();
  if (rounds_changed) choices_ = choices_of(*table);
  pictures_->show(view, job_, choices_, context().x_axis());
  if (rounds_changed) list_decisions(*table);
  show_chosen();
  ask_next();
  context().group().touch();
}

void DecisionsPage::list_decisions(const RoundTable& table) {
  std::vector<Decision> decisions = decisions_of(table, choices_, kDecisionsMax);
  for (Decision& decision : decisions) {
    const DecisionBelief* const judge = pictures_->beliefs().judge_of(decision.round);
    if (judge) decision.regret_s = judge->before->regret_s;
  }
  decisions_.update(std::move(decisions));
}

// The user's choice, or else the newest decision. A run without decisions shows its newest round.
std::optional<std::uint64_t> DecisionsPage::round() const {
  if (chosen_) return chosen_;
  if (decisions_.rowCount() > 0) return decisions_.row_at(decisions_.rowCount() - 1).round;
  const RoundTable* const table = rounds();
  return table ? std::optional(table->columns.round.back()) : std::nullopt;
}

void DecisionsPage::choose(std::optional<std::uint64_t> round) {
  if (round == chosen_) return;
  chosen_ = round;
  // The charts stand still while an old decision is read.
  if (round) context().group().x_axis().lock();
  show_chosen();
  ask_next();
}

// Shows the known facts at once; the plan follows when it has been read.
void DecisionsPage::show_chosen() {
  const RoundTable* const table = rounds();
  const auto number = round();
  if (!table || !number) return;
  const auto row = table->row_of(*number);
  pictures_->mark(*table, row);
  if (!row) {
    decision_->show_nothing(
        QString("Round %1 was not committed or is no longer stored.").arg(*number));
    return;
  }
  const DecisionFacts facts = decision_facts(*table, *row);
  const auto failure = unreadable_.find(facts.decided_in);
  if (failure != unreadable_.end()) {
    decision_->show_failure(facts, failure->second);
  } else if (detail_ && detail_->round == facts.decided_in) {
    if (decision_->detail() == detail_.get()) {
      decision_->show_facts(facts);
    } else {
      decision_->show_detail(facts, detail_);
    }
  } else {
    decision_->show_facts(facts);
  }
  const BeliefCurves& beliefs = pictures_->beliefs();
  decision_->show_belief(
      belief_text(beliefs.of(facts.decided_in), beliefs.judge_of(facts.decided_in)));
}

// Requests the plan of the shown round first, then the reasons for the table. Only one request is
// under way at a time, so that requests of other pages do not wait behind all of them.
void DecisionsPage::ask_next() {
  const RoundTable* const table = rounds();
  const auto number = round();
  if (!table || !number) return;
  std::optional<std::uint64_t> next;
  if (const auto row = table->row_of(*number)) {
    const std::uint64_t decided = table->columns.round[decided_in(*table, *row)];
    const bool known = (detail_ && detail_->round == decided) || unreadable_.contains(decided);
    if (!known) next = decided;
  }
  if (!next && !asked_) next = decisions_.without_sentence();
  if (!next || next == asked_) return;
  asked_ = next;
  run()->ask_round(job_, *next);
}

// Details requested by another page arrive here too. Such a request may have replaced this page's
// own, which is therefore sent again.
void DecisionsPage::take(const std::shared_ptr<const RoundDetail>& detail) {
  if (!detail || detail->job != job_) return;
  asked_.reset();
  decisions_.set_sentence(detail->round,
                          detail->planned ? detail->sentence : "(this build cannot read the plan)");
  const RoundTable* const table = rounds();
  const auto number = round();
  const auto row = table && number ? table->row_of(*number) : std::nullopt;
  if (row && table->columns.round[decided_in(*table, *row)] == detail->round) {
    detail_ = detail;
    show_chosen();
  }
  ask_next();
  draw_beliefs();
}

// Comes before the details of the same round.
void DecisionsPage::take_belief(const std::shared_ptr<const DecisionBelief>& belief) {
  if (belief->job != job_) return;
  pictures_->beliefs().add(belief);
}

void DecisionsPage::draw_beliefs() {
  const RoundTable* const table = rounds();
  const std::size_t undrawn = pictures_->beliefs().undrawn();
  if (!table || undrawn == 0 || (asked_ && undrawn < kBeliefsAtOnce)) return;
  pictures_->show(run()->view(), job_, choices_, context().x_axis());
  list_decisions(*table);
  show_chosen();
  context().group().touch();
}

void DecisionsPage::take_failure(std::uint64_t round, const QString& why) {
  asked_.reset();
  // Bounds the memory for a file with very many unreadable plans.
  if (unreadable_.size() < kDecisionsMax) unreadable_[round] = why;
  decisions_.set_sentence(round, "(" + why.toStdString() + ")");
  show_chosen();
  ask_next();
  draw_beliefs();
}

bool DecisionsPage::settled() const {
  if (!run()) return true;
  if (!run()->trouble().ok()) return true;
  if (!run()->caught_up() || asked_) return false;
  const RoundTable* const table = rounds();
  return !table || (seen_ == table && rounds_seen_ == table->revision());
}

void DecisionsPage::showEvent(QShowEvent* event) {
  RunPage::showEvent(event);
  refresh();
}

}  // namespace tributary::dashboard
