// The table of a run's events, the newest last. It holds as many events as the run's view keeps.
// GUI thread only.
//
// update() costs time in proportion to the new events. Events are identified by their number in the
// journal, which never repeats within a run.
#pragma once

#include <deque>

#include "core/run/view/run_view.h"
#include "dashboard/tables/cells/table_model.h"

namespace tributary::dashboard {

class EventsModel : public TableModel {
 public:
  explicit EventsModel(QObject* parent = nullptr);

  // Appends the new events and removes those that the view has dropped. An unrelated sequence of
  // events, for example that of another run, resets the model.
  void update(const RunView& view);
  void clear();

  const EventRow& event_at(int row) const { return events_[static_cast<std::size_t>(row)]; }
  int level_column() const;

  int rowCount(const QModelIndex& parent = {}) const override;
  double number(int row, int column) const override;
  std::string_view words(int row, int column) const override;
  QString number_text(int row, int column) const override;
  CellMark mark(int row, int column) const override;

 private:
  bool continues(const std::deque<EventRow>& now) const;
  void forget_before(std::int64_t number);
  void take_after(std::int64_t number, const std::deque<EventRow>& now);

  std::deque<EventRow> events_;
};

}  // namespace tributary::dashboard
