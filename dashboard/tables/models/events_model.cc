#include "dashboard/tables/models/events_model.h"

#include <algorithm>

namespace tributary::dashboard {
namespace {

enum EventColumn : int {
  kEventTime,
  kEventLevel,
  kEventName,
  kEventReason,
  kEventSource,
  kEventRound,
  kEventText,
};

constexpr double kEventTicksPerSecond = 1e9;

std::vector<TableColumn> event_columns() {
  return {
      {"time", "Time", CellKind::number, Unit::wall_time, "Local time of this machine", true},
      {"level", "Level", CellKind::rank, Unit::one, "", true},
      {"event", "Event", CellKind::text, Unit::one, "", true},
      {"reason", "Reason", CellKind::text, Unit::one, "", true},
      {"source", "Source", CellKind::text, Unit::one, "Agent that the event concerns", true},
      {"round", "Round", CellKind::number, Unit::count, "Round of the event, if any", true},
      {"text", "Text", CellKind::text, Unit::one, "", true},
  };
}

bool is_before(const EventRow& event, std::int64_t number) { return event.number < number; }

}  // namespace

EventsModel::EventsModel(QObject* parent) : TableModel(event_columns(), parent) {}

int EventsModel::level_column() const { return kEventLevel; }

// Changes are reported to the view as insertions and removals, so that it keeps its selection and
// its position.
void EventsModel::update(const RunView& view) {
  const std::deque<EventRow>& now = view.events();
  if (now.empty() || !continues(now)) clear();
  if (now.empty()) return;
  forget_before(now.front().number);
  take_after(events_.empty() ? now.front().number - 1 : events_.back().number, now);
}

void EventsModel::clear() {
  if (events_.empty()) return;
  beginResetModel();
  events_.clear();
  endResetModel();
}

// Reports whether `now` is a continuation of the events shown. The newest known event decides: it
// must still be in `now` with the same content, unless all of `now` is newer.
bool EventsModel::continues(const std::deque<EventRow>& now) const {
  if (events_.empty() || now.front().number > events_.back().number) return true;
  const EventRow& newest = events_.back();
  const auto same = std::lower_bound(now.begin(), now.end(), newest.number, is_before);
  return same != now.end() && same->number == newest.number &&
         same->at_wall_ns == newest.at_wall_ns && same->text == newest.text;
}

// Removes the events that the view has dropped. Event numbers ascend.
void EventsModel::forget_before(std::int64_t number) {
  const auto end = std::lower_bound(events_.begin(), events_.end(), number, is_before);
  if (end == events_.begin()) return;
  beginRemoveRows({}, 0, static_cast<int>(end - events_.begin()) - 1);
  events_.erase(events_.begin(), end);
  endRemoveRows();
}

// Appends all events with a higher number in a single insertion.
void EventsModel::take_after(std::int64_t number, const std::deque<EventRow>& now) {
  const auto first = std::lower_bound(now.begin(), now.end(), number + 1, is_before);
  if (first == now.end()) return;
  const int old = rowCount();
  beginInsertRows({}, old, old + static_cast<int>(now.end() - first) - 1);
  events_.insert(events_.end(), first, now.end());
  endInsertRows();
}

int EventsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(events_.size());
}

double EventsModel::number(int row, int column) const {
  const EventRow& event = event_at(row);
  switch (column) {
    case kEventTime:
      return static_cast<double>(event.at_wall_ns) / kEventTicksPerSecond;
    case kEventLevel:
      return static_cast<double>(event.level);
    case kEventRound:
      return event.round == 0 ? kUnknown : static_cast<double>(event.round);
    default:
      return kUnknown;
  }
}

std::string_view EventsModel::words(int row, int column) const {
  const EventRow& event = event_at(row);
  switch (column) {
    case kEventLevel:
      return tributary::name(event.level);
    case kEventName:
      return event.name;
    case kEventReason:
      return event.reason;
    case kEventSource:
      return event.source;
    case kEventText:
      return event.text;
    default:
      return {};
  }
}

QString EventsModel::number_text(int row, int column) const {
  const bool nothing = column == kEventRound && event_at(row).round == 0;
  return nothing ? QString() : TableModel::number_text(row, column);
}

CellMark EventsModel::mark(int row, int column) const {
  if (column != kEventLevel) return CellMark::none;
  switch (event_at(row).level) {
    case LogLevel::error:
      return CellMark::error;
    case LogLevel::warning:
      return CellMark::warning;
    case LogLevel::trace:
    case LogLevel::debug:
      return CellMark::faint;
    case LogLevel::info:
      break;
  }
  return CellMark::none;
}

}  // namespace tributary::dashboard
