#include "dashboard/pages/round/round_page.h"

#include <QEvent>
#include <QLabel>
#include <QShortcut>
#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "dashboard/pages/common/texts.h"
#include "dashboard/pages/plan/decision_view.h"
#include "dashboard/pages/round/round_facts.h"

namespace tributary::dashboard {
namespace {

constexpr std::size_t kGanttRowsMin = 8;
// Space for the title, the legend and the axis, in lines of text.
constexpr double kLinesAroundRows = 6;
constexpr double kLinesPerRow = 1.2;

}  // namespace

RoundPage::RoundPage(PageContext& context, QWidget* parent) : RunPage(context, parent) {
  group_.share_colours(borrowed(context.group().colours()));
  // The page follows the newest round by its own button.
  group_.x_axis().set_following(false);
  picture_ = new PlotView(
      {.title = "Agents, slowest first", .x = {"Time since plan arrival", Unit::seconds}}, &group_,
      this);
  picture_->installEventFilter(this);
  note_ = new QLabel(this);
  note_->setWordWrap(true);
  message_ = new QLabel(this);
  message_->setTextFormat(Qt::PlainText);
  message_->setWordWrap(true);
  table_ = new TableView(agents_, this);
  table_->setAccessibleName("Agents of the round");
  table_->sortByColumn(agents_.column_of("busy"), Qt::DescendingOrder);

  auto* left = new QWidget(this);
  auto* left_layout = new QVBoxLayout(left);
  left_layout->setContentsMargins(0, 0, 0, 0);
  left_layout->addWidget(picture_, 1);
  left_layout->addWidget(note_);
  auto* upper = new QSplitter(Qt::Horizontal);
  upper->addWidget(left);
  side_ = new RoundSide(this);
  upper->addWidget(side_);
  upper->setSizes({3000, 1300});
  auto* all = new QSplitter(Qt::Vertical, this);
  all->addWidget(upper);
  all->addWidget(table_);
  all->setSizes({3000, 1500});
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  bar_ = new RoundBar(this);
  layout->addWidget(bar_);
  layout->addWidget(message_);
  layout->addWidget(all, 1);

  connect(picture_, &PlotView::row_clicked, this, [this](int row, double) {
    // The chart shows only some agents, in an order of its own; rows_ maps its rows to those of the
    // table.
    if (row < 0 || static_cast<std::size_t>(row) >= rows_.agents.size()) return;
    table_->select_row(static_cast<int>(rows_.agents[static_cast<std::size_t>(row)]));
  });
  connect(table_, &TableView::row_entered, this, [this](int row) {
    const auto index = static_cast<std::size_t>(row);
    if (detail_ && index < detail_->agents.size()) {
      emit agent_requested(QString::fromStdString(detail_->agents[index].agent_id));
    }
  });
  connect(bar_, &RoundBar::round_chosen, this, [this](std::uint64_t round) { choose(round); });
  connect(bar_, &RoundBar::step_requested, this, &RoundPage::step);
  connect(bar_, &RoundBar::newest_requested, this, [this] { choose(std::nullopt); });
  bind_keys();
  forget();
}

RoundPage::~RoundPage() {
  // The chart and the table refer to the group and the model, so they are destroyed first.
  delete picture_;
  delete table_;
}

void RoundPage::bind_keys() {
  const auto bind = [this](const QKeySequence& keys, auto&& what) {
    auto* shortcut = new QShortcut(keys, this);
    shortcut->setContext(Qt::WidgetWithChildrenShortcut);
    connect(shortcut, &QShortcut::activated, this, what);
  };
  bind(Qt::ALT | Qt::Key_Left, [this] { step(-1); });
  bind(Qt::ALT | Qt::Key_Right, [this] { step(1); });
  bind(Qt::ALT | Qt::Key_End, [this] { choose(std::nullopt); });
}

void RoundPage::take_run() {
  forget();
  if (run()) {
    connect(run(), &RunSession::round_read, this, &RoundPage::take);
    connect(run(), &RunSession::round_not_read, this, &RoundPage::take_failure);
  }
}

void RoundPage::forget() {
  job_ = run() ? run()->job() : 0;
  seen_ = {};
  choice_ = {};
  show_nothing(why_nothing());
  show_place();
}

const RoundTable* RoundPage::table_of_rounds() const {
  const RoundTable* const table = run() ? run()->view().rounds(run()->job()) : nullptr;
  return table && table->size() > 0 ? table : nullptr;
}

QString RoundPage::why_nothing() const {
  if (!run()) return kNoRunOpen;
  if (!run()->trouble().ok()) return plain_text(run()->trouble().text());
  if (!run()->caught_up()) return "Reading the run…";
  if (run()->job() == 0) {
    return kNoJob;
  }
  return "No round has been committed yet.";
}

// The user's choice, which stays, or else the newest round.
std::optional<std::uint64_t> RoundPage::requested_round() const {
  if (choice_.chosen) return choice_.chosen;
  const RoundTable* const table = table_of_rounds();
  return table ? std::optional(table->columns.round.back()) : std::nullopt;
}

// The page does not follow the newest round while the pointer is over the chart or the user has
// zoomed in.
bool RoundPage::held() const {
  return detail_ && (picture_->underMouse() || group_.x_axis().zoom().x);
}

void RoundPage::refresh() {
  if (!isVisible()) return;
  const RoundTable* const table = table_of_rounds();
  // A revision that falls means that the file was replaced by another run.
  const bool anew = seen_.table && (table != seen_.table || table->revision() < seen_.rounds);
  if (anew || (run() && run()->job() != job_)) forget();
  if (!table) {
    show_nothing(why_nothing());
    return;
  }
  // Events may arrive shortly after the round that they belong to.
  const bool more_events = detail_ && run()->view().revisions().events != seen_.events;
  if (more_events && look_up_moments()) show_rows();
  if (seen_.table == table && table->revision() == seen_.rounds) return;
  seen_.table = table;
  seen_.rounds = table->revision();
  show_place();
  if (choice_.chosen || !held()) ask();
}

void RoundPage::choose(std::optional<std::uint64_t> round) {
  if (round && choice_.chosen == round) return;
  choice_.chosen = round;
  choice_.failed.reset();
  if (!round && group_.x_axis().zoom().x) group_.x_axis().fit();
  show_place();
  ask();
}

void RoundPage::step(int rounds_on) {
  const RoundTable* const table = table_of_rounds();
  const auto from = requested_round();
  if (!table || !from) return;
  // Old rounds may have been dropped, and their numbers need not be consecutive, so a step counts
  // rows.
  const auto next = std::ranges::lower_bound(table->columns.round, *from);
  const auto row = (next - table->columns.round.begin()) + rounds_on;
  const auto last = static_cast<std::ptrdiff_t>(table->size()) - 1;
  choose(table->columns.round[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(row, 0, last))]);
}

void RoundPage::show_place() {
  const RoundTable* const table = table_of_rounds();
  const auto round = requested_round();
  std::optional<RoundBar::Place> place;
  if (table && round) {
    place = {.first = table->columns.round.front(),
             .last = table->columns.round.back(),
             .round = *round};
  }
  bar_->show_place(place, follows_newest());
}

// At most one request is in flight. A round that could not be read is not asked for again until the
// user has chosen another one.
void RoundPage::ask() {
  const auto round = requested_round();
  if (!run() || !table_of_rounds() || !round || choice_.asked == round || choice_.failed == round)
    return;
  if (detail_ && detail_->round == *round) return;
  choice_.asked = round;
  run()->ask_round(job_, *round);
}

// Details requested by another page arrive here too. Such a request may have replaced this page's
// own, which is therefore sent again.
void RoundPage::take(const std::shared_ptr<const RoundDetail>& detail) {
  if (!detail || detail->job != job_) return;
  const bool ours = detail->round == requested_round() || detail->round == choice_.asked;
  choice_.asked.reset();
  if (ours) {
    detail_ = detail;
    show_detail();
  }
  if (choice_.chosen || !held()) ask();
}

void RoundPage::take_failure(std::uint64_t round, const QString& why) {
  choice_.asked.reset();
  if (round == requested_round()) {
    choice_.failed = round;
    show_nothing(QString("Round %1 cannot be shown: %2").arg(round).arg(why));
    return;
  }
  ask();
}

void RoundPage::show_nothing(const QString& why) {
  detail_ = nullptr;
  rows_ = {};
  message_->hide();
  note_->hide();
  side_->clear();
  picture_->set_empty_text(why);
  picture_->set_gantt({});
  agents_.clear();
}

void RoundPage::show_detail() {
  message_->setVisible(!detail_->planned);
  message_->setText(
      "This build cannot read the round's plan: the file has none, or a newer build wrote "
      "it. "
      "The agents' reports are shown.");
  look_up_moments();
  show_rows();
  // A zoom is kept between rounds, so that they can be compared. Without a zoom the range follows
  // the round.
  if (!group_.x_axis().zoom().x) group_.x_axis().go_live();
  show_facts();
  agents_.update(*detail_);
}

std::size_t RoundPage::rows_that_fit() const {
  const double available = picture_->height() - kLinesAroundRows * fontMetrics().height();
  const double rows = available / (fontMetrics().height() * kLinesPerRow);
  return static_cast<std::size_t>(std::clamp<double>(rows, kGanttRowsMin, kGanttRowsMax));
}

// Returns whether the events within the round differ from those shown.
bool RoundPage::look_up_moments() {
  const RoundTable* const table = table_of_rounds();
  const auto row = table ? table->row_of(detail_->round) : std::nullopt;
  std::vector<RoundMoment> moments;
  if (row) {
    seen_.events = run()->view().revisions().events;
    moments =
        moments_of(run()->view().events(), job_, detail_->round, table->columns.began_s[*row]);
  }
  if (moments == moments_) return false;
  moments_ = std::move(moments);
  return true;
}

void RoundPage::show_rows() {
  rows_ = round_rows(*detail_, rows_that_fit(), moments_);
  picture_->set_empty_text("No agent has reported this round.");
  picture_->set_gantt(rows_.rows);
  note_->setText(rows_.note);
  note_->setVisible(!rows_.note.isEmpty());
}

bool RoundPage::eventFilter(QObject* watched, QEvent* event) {
  if (watched == picture_ && event->type() == QEvent::Resize && detail_) {
    // Most resize events leave the number of rows as it is.
    const std::size_t fit = std::min(rows_that_fit(), detail_->agents.size());
    if (fit != rows_.rows.size()) show_rows();
  }
  return Page::eventFilter(watched, event);
}

void RoundPage::show_facts() {
  const RoundTable* const table = table_of_rounds();
  const auto row = table ? table->row_of(detail_->round) : std::nullopt;
  side_->show_facts(plain_text(detail_->sentence),
                    round_facts(*detail_, row ? table->columns.predicted_s[*row] : kUnknown),
                    bits_by_layer(detail_->agents));
}

QString RoundPage::message() const { return message_->isHidden() ? QString() : message_->text(); }

bool RoundPage::settled() const {
  if (!run() || !run()->trouble().ok()) return true;
  const auto round = requested_round();
  return run()->caught_up() && !choice_.asked &&
         (!round || choice_.failed || (detail_ && detail_->round == *round));
}

void RoundPage::showEvent(QShowEvent* event) {
  RunPage::showEvent(event);
  refresh();
}

}  // namespace tributary::dashboard
