// The page of the agents: a table of all agents, and below it the charts of the chosen one.
//
// The table changes at most four times a second and only while the page is visible (TableClock);
// the charts follow at once. The page owns its models and reads the first run's view, which it
// never changes. GUI thread only.
#pragma once

#include <string>
#include <vector>

#include "dashboard/pages/agents/agent_panel.h"
#include "dashboard/pages/common/run_page.h"
#include "dashboard/pages/common/table_clock.h"
#include "dashboard/tables/filter_bar.h"
#include "dashboard/tables/models/agents_model.h"
#include "dashboard/tables/table_view.h"

namespace tributary::dashboard {

class AgentsPage : public RunPage {
  Q_OBJECT

 public:
  explicit AgentsPage(PageContext& context, QWidget* parent = nullptr);

  QString name() const override { return "agents"; }
  QString title() const override { return "Agents"; }
  void refresh() override;
  bool settled() const override { return !clock_.waits(); }

  // Chooses the agent, now or as soon as the run contains it.
  void show_agent(const QString& agent_id) override;
  // Does the work of refresh() for the first run. The view must stay valid until the next call.
  void show_run(const RunView& view, std::uint64_t job);

  // Access for tests.
  TableView& table() { return *table_; }
  AgentsModel& model() { return model_; }
  FilterBar& filter() { return *filter_; }
  AgentPanel& panel() { return *panel_; }

 protected:
  void take_run() override;
  void showEvent(QShowEvent* event) override;

 private:
  void update_now();
  void draw();
  void follow_choice();
  void show_readings_once();

  AgentsModel model_;
  TableView* table_;
  FilterBar* filter_;
  AgentPanel* panel_;
  TableClock clock_;
  const RunView* view_ = nullptr;  // the view shown last
  std::uint64_t job_ = 0;
  ShownRevisions seen_;
  std::string chosen_;
  bool readings_shown_ = false;
  bool updating_ = false;
};

}  // namespace tributary::dashboard
