#include "dashboard/pages/plan/decision_view.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSplitter>
#include <QTabWidget>
#include <QVBoxLayout>
#include <cmath>

#include "dashboard/pages/common/texts.h"
#include "dashboard/pages/plan/pareto.h"
#include "dashboard/pages/plan/plan_inputs.h"

namespace tributary::dashboard {
namespace {

constexpr int kParetoHeightMin = 150;

QLabel* wrapped_label(QWidget* parent, const QString& name) {
  auto* label = new QLabel(parent);
  label->setObjectName(name);
  label->setTextFormat(Qt::PlainText);  // texts of a file must not be interpreted as markup
  label->setWordWrap(true);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  return label;
}

}  // namespace

// The colours belong to the page; the empty owner makes the pointer release nothing.
std::shared_ptr<ColourSlots> borrowed(ColourSlots& colours) {
  return {std::shared_ptr<void>(), &colours};
}

DecisionView::DecisionView(ColourSlots& colours, QWidget* parent) : QWidget(parent) {
  group_.share_colours(borrowed(colours));
  // The x axis is 1/gain and has no newest value to follow.
  group_.x_axis().set_following(false);
  group_.x_axis().set_log(true);
  heading_ = wrapped_label(this, "heading");
  QFont bold = heading_->font();
  bold.setBold(true);
  heading_->setFont(bold);
  times_ = wrapped_label(this, "times");
  belief_ = wrapped_label(this, "belief");
  sentence_ = wrapped_label(this, "sentence");
  open_ = new QPushButton("Show the &round", this);
  open_->setToolTip("Open this round on its page");
  connect(open_, &QPushButton::clicked, this, [this] { emit round_requested(round_); });

  picture_ = new PlotView({.title = "Alternatives: predicted round time",
                           .x = {"1 / gain", Unit::one},
                           .y = {"Round", Unit::seconds}},
                          &group_, this);
  picture_->setMinimumHeight(kParetoHeightMin);
  alternatives_view_ = new TableView(alternatives_, this);
  inputs_view_ = new TableView(inputs_, this);
  connect(alternatives_view_, &TableView::row_chosen, this,
          [this](int row) { draw(static_cast<std::size_t>(row)); });
  tabs_ = new QTabWidget(this);
  tabs_->addTab(alternatives_view_, "&Alternatives");
  tabs_->addTab(inputs_view_, "&Inputs");

  auto* top = new QHBoxLayout;
  top->addWidget(heading_, 1);
  top->addWidget(open_, 0, Qt::AlignTop);
  auto* parts = new QSplitter(Qt::Vertical, this);
  parts->addWidget(picture_);
  parts->addWidget(tabs_);
  parts->setSizes({3000, 2600});
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(4, 4, 4, 4);
  layout->addLayout(top);
  layout->addWidget(sentence_);
  layout->addWidget(times_);
  layout->addWidget(belief_);
  layout->addWidget(parts, 1);
  show_nothing({});
}

DecisionView::~DecisionView() {
  // The plot and the tabs refer to the group and the models, so they are destroyed first.
  delete picture_;
  delete tabs_;
}

void DecisionView::show_nothing(const QString& why) {
  heading_->setText("No decision");
  times_->clear();
  show_belief({});
  open_->hide();
  clear_detail(why);
  picture_->set_empty_text(why);
}

void DecisionView::show_facts(const DecisionFacts& facts) {
  heading_->setText(decision_heading(facts));
  times_->setText(decision_times(facts));
  round_ = facts.round;
  open_->show();
  if (detail_ && detail_->round == facts.decided_in) return;
  clear_detail("Reading the plan…");
}

void DecisionView::show_failure(const DecisionFacts& facts, const QString& why) {
  show_facts(facts);
  clear_detail(QString("The plan of round %1 cannot be read: %2").arg(facts.decided_in).arg(why));
}

void DecisionView::show_detail(const DecisionFacts& facts,
                               std::shared_ptr<const RoundDetail> detail) {
  detail_ = std::move(detail);
  show_facts(facts);
  sentence_->setText(decision_sentence(*detail_));
  list_alternatives();
  list_inputs();
  draw(std::nullopt);
}

void DecisionView::clear_detail(const QString& sentence) {
  detail_ = nullptr;
  sentence_->setText(sentence);
  alternatives_.clear();
  inputs_.clear();
  picture_->set_empty_text("Select a round: click in a chart or on a row of the table.");
  picture_->set_curves({});
}

// Selecting the planner's choice here must not count as a choice of the user.
void DecisionView::list_alternatives() {
  const QSignalBlocker quiet(alternatives_view_);
  alternatives_.update(*detail_);
  tabs_->setTabText(0, QString("&Alternatives (%1)").arg(grouped(detail_->alternatives.size())));
  if (alternatives_.chosen_row() >= 0) alternatives_view_->select_row(alternatives_.chosen_row());
}

void DecisionView::list_inputs() {
  std::vector<PlanInput> inputs = plan_inputs_of(*detail_);
  tabs_->setTabText(1, QString("&Inputs (%1)").arg(grouped(inputs.size())));
  inputs_.update(std::move(inputs));
}

void DecisionView::draw(std::optional<std::size_t> selected) {
  if (!detail_) return;
  // A plan that continues an earlier one contains only that one alternative.
  const bool choice = detail_->alternatives.size() > 1;
  picture_->set_empty_text("The plan of this round contains no alternatives.");
  picture_->axes().set_log_y(spread_widely(detail_->alternatives));
  picture_->set_curves(choice ? pareto_curves(detail_->alternatives, selected)
                              : std::vector<PlotCurve>());
}

void DecisionView::show_belief(const QString& text) {
  belief_->setText(text);
  belief_->setVisible(!text.isEmpty());
}

QString DecisionView::heading() const { return heading_->text(); }
QString DecisionView::sentence() const { return sentence_->text(); }
QString DecisionView::times() const { return times_->text(); }
QString DecisionView::belief() const { return belief_->text(); }

}  // namespace tributary::dashboard
