// The page of the events: a table with a filter. All charts mark the time of the chosen row.
//
// The table has the events that the run's view keeps (RunLimits::events_max, the newest ones). It
// changes at most four times a second and only while the page is visible. It keeps the selected row
// while new events arrive.
//
// The page owns its model, table and filter. It borrows the run's view, which belongs to the run's
// session. GUI thread only.
#pragma once

#include <optional>
#include <vector>

#include "dashboard/pages/common/run_page.h"
#include "dashboard/pages/common/table_clock.h"
#include "dashboard/tables/filter_bar.h"
#include "dashboard/tables/models/events_model.h"
#include "dashboard/tables/table_view.h"

class QPlainTextEdit;

namespace tributary::dashboard {

class EventsPage : public RunPage {
  Q_OBJECT

 public:
  explicit EventsPage(PageContext& context, QWidget* parent = nullptr);

  QString name() const override { return "events"; }
  QString title() const override { return "Events"; }
  void refresh() override;
  bool settled() const override { return !clock_.waits(); }

  // Shows the events of `view` at once. refresh() does this later, for the run of set_runs(). An
  // event that names no job belongs to `job`. The view must stay valid until the next call of this
  // function or of set_runs().
  void show_run(const RunView& view, std::uint64_t job);

  TableView& table() { return *table_; }
  EventsModel& model() { return model_; }
  FilterBar& filter() { return *filter_; }
  QString detail() const;  // the text of the chosen row

 protected:
  void take_run() override;
  void showEvent(QShowEvent* event) override;

 private:
  void update_now();
  void point_at(int row);
  void show_event(const EventRow& event);

  EventsModel model_;
  TableView* table_;
  FilterBar* filter_;
  QPlainTextEdit* detail_;
  TableClock clock_;
  const RunView* view_ = nullptr;  // the view shown last
  std::uint64_t job_ = 0;
  ShownRevisions seen_;
  bool updating_ = false;
};

// Returns the round of an event, with a fraction if only its time is known. An event before the
// first or after the last round gets that round. 0 if there are no rounds.
double round_of_event(const EventRow& event, const RoundTable* rounds);

}  // namespace tributary::dashboard
