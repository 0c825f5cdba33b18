// Who takes part in a run: state, device, links, and how each one's learning goes.
#pragma once

#include <cstdint>
#include <string>

#include "core/run/view/run_view.h"
#include "dashboard/tables/models/rows_model.h"

namespace tributary::dashboard {

struct AgentTableRow {
  AgentRow agent = {};
  std::string job_name = {};  // of the job that it serves
  std::string metric = {};    // that the next two are of
  double metric_last = kUnknown;
  double metric_best = kUnknown;
  SharedSeries loss = {};
};

class AgentsModel : public RowsModel<AgentTableRow> {
 public:
  explicit AgentsModel(QObject* parent = nullptr);

  // Curves are those of this job.
  void update(const RunView& view, std::uint64_t job);
  void clear() { show_rows({}); }

  const std::string& agent_id(int row) const { return row_at(row).agent.info.agent_id; }
  int row_of(std::string_view agent_id) const;  // -1: there is none
  bool has_readings() const;                    // of temperature or power, of any agent

  double number(int row, int column) const override;
  std::string_view words(int row, int column) const override;
  SharedSeries curve(int row, int column) const override;
  QString number_text(int row, int column) const override;
  CellMark mark(int row, int column) const override;

 protected:
  bool same_thing(const AgentTableRow& a, const AgentTableRow& b) const override;
  bool looks_same(const AgentTableRow& a, const AgentTableRow& b) const override;
};

// From the arrival of a plan to its result; NaN without a report.
double round_time_s(const NewReport& report);

}  // namespace tributary::dashboard
