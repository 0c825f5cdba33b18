#include "dashboard/pages/events/events_page.h"

#include <QHeaderView>
#include <QPlainTextEdit>
#include <QScopedValueRollback>
#include <QVBoxLayout>
#include <cmath>

#include "dashboard/pages/common/following_series.h"
#include "dashboard/pages/common/texts.h"
#include "dashboard/tables/cells/shown_text.h"

namespace tributary::dashboard {
namespace {

// The height is fixed, so that the table does not move when another event is selected.
constexpr int kDetailLines = 4;
constexpr const char* kNoEvents =
    "No events yet.\nEvents are agents that connect or disconnect, refused frames, retries and "
    "faults.";
constexpr const char* kNoEventChosen =
    "Select an event to mark its time in all charts. Enter opens its round.";

}  // namespace

EventsPage::EventsPage(PageContext& context, QWidget* parent)
    : RunPage(context, parent), clock_([this] { update_now(); }) {
  table_ = new TableView(model_, this);
  filter_ = new FilterBar(*table_, *this);
  filter_->add_levels(model_.level_column());
  detail_ = new QPlainTextEdit(this);
  detail_->setReadOnly(true);
  detail_->setTabChangesFocus(true);
  detail_->setAccessibleName("Selected event");
  detail_->setPlaceholderText(kNoEventChosen);
  detail_->setFixedHeight(detail_->fontMetrics().lineSpacing() * kDetailLines + 12);
  auto* const layout = new QVBoxLayout(this);
  layout->addWidget(filter_);
  layout->addWidget(table_, 1);
  layout->addWidget(detail_);
  table_->setAccessibleName("Events");
  table_->set_empty_text(kNoRunOpen);
  table_->set_follow_end(true);
  table_->horizontalHeader()->setStretchLastSection(true);
  setFocusProxy(table_);

  connect(table_, &TableView::row_chosen, this, [this](int row) {
    if (!updating_) point_at(row);
  });
  connect(table_, &TableView::row_entered, this, [this](int row) {
    const std::uint64_t round = row < 0 ? 0 : model_.event_at(row).round;
    if (round > 0) emit round_requested(round);
  });
  connect(&model_, &QAbstractItemModel::modelReset, detail_, &QPlainTextEdit::clear);
}

void EventsPage::take_run() {
  view_ = nullptr;
  seen_ = {};
  const QScopedValueRollback<bool> updating(updating_, true);
  model_.clear();
  table_->set_empty_text(kNoRunOpen);
}

void EventsPage::refresh() {
  if (!run()) return;
  if (seen_.is_new(run()->job(), {run()->view().revisions().events})) clock_.touch(isVisible());
}

void EventsPage::showEvent(QShowEvent* event) {
  RunPage::showEvent(event);
  clock_.run_now();
}

void EventsPage::update_now() {
  if (run()) show_run(run()->view(), run()->job());
}

// When the chosen row leaves the table, Qt selects another row. The flag `updating_` keeps that
// selection from counting as a choice by the user.
void EventsPage::show_run(const RunView& view, std::uint64_t job) {
  const QScopedValueRollback<bool> updating(updating_, true);
  view_ = &view;
  job_ = job;
  table_->set_empty_text(kNoEvents);
  model_.update(view);
}

void EventsPage::point_at(int row) {
  const EventRow& event = model_.event_at(row);
  show_event(event);
  const RoundTable* const rounds =
      view_ ? view_->rounds(event.job != 0 ? event.job : job_) : nullptr;
  emit moment_requested(round_of_event(event, rounds), event.time_s);
}

QString EventsPage::detail() const { return detail_->toPlainText(); }

void EventsPage::show_event(const EventRow& event) {
  const auto at_s = static_cast<double>(event.at_wall_ns) / 1e9;
  QString head = text_of(Unit::wall_time, at_s) + "  " + shown_text(tributary::name(event.level)) +
                 "  " + shown_text(event.name);
  if (!event.reason.empty()) head += " (" + shown_text(event.reason) + ")";
  if (!event.source.empty()) head += ", " + shown_text(event.source);
  if (event.round > 0) head += QString(", round %1").arg(event.round);
  detail_->setPlainText(head + "\n" + shown_text(event.text));
}

// Events between rounds belong to the place on the axis at which they happened; later ones to the
// last round, earlier ones to the first.
double round_of_event(const EventRow& event, const RoundTable* rounds) {
  if (event.round > 0) return static_cast<double>(event.round);
  if (!rounds || rounds->size() == 0) return 0;
  const std::optional<double> round = round_at(*rounds, event.time_s);
  if (!round) return static_cast<double>(rounds->columns.round.back());
  return std::isfinite(*round) ? *round : static_cast<double>(rounds->columns.round.front());
}

}  // namespace tributary::dashboard
