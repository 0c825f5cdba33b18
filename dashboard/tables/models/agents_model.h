// The table of a run's agents: state, device, links, and the progress of each agent's training.
//
// GUI thread only. update() costs one comparison per agent.
#pragma once

#include <cstdint>
#include <string>

#include "core/run/view/run_view.h"
#include "dashboard/tables/models/rows_model.h"

namespace tributary::dashboard {

// One agent, with the values that the table derives from the run's view.
struct AgentTableRow {
  AgentRow agent = {};
  std::string job_name = {};  // name of the job that the agent serves
  std::string metric = {};    // name of the metric behind the next two values
  double metric_last = kUnknown;
  double metric_best = kUnknown;
  SharedSeries loss = {};
};

class AgentsModel : public RowsModel<AgentTableRow> {
 public:
  explicit AgentsModel(QObject* parent = nullptr);

  // Shows the agents of `view`. Curves and losses are those of `job`.
  void update(const RunView& view, std::uint64_t job);
  void clear() { show_rows({}); }

  // The identifier of a row's agent. The row must exist.
  const std::string& agent_id(int row) const { return row_at(row).agent.info.agent_id; }
  int row_of(std::string_view agent_id) const;  // -1: no such agent
  bool has_readings() const;  // whether any agent reports a temperature or a power

  double number(int row, int column) const override;
  std::string_view words(int row, int column) const override;
  SharedSeries curve(int row, int column) const override;
  QString number_text(int row, int column) const override;
  CellMark mark(int row, int column) const override;

 protected:
  bool same_item(const AgentTableRow& a, const AgentTableRow& b) const override;
  bool same_values(const AgentTableRow& a, const AgentTableRow& b) const override;
};

// Seconds from the arrival of a plan to the agent's result. NaN without a report.
double round_time_s(const NewReport& report);

}  // namespace tributary::dashboard
