// The table of a run's jobs on the control page, in the order of submission. GUI thread only.
//
// update() keeps the rows of jobs that are still there, so the selection survives. It costs time
// linear in jobs and agents. Jobs are few, so all rows are compared.
#pragma once

#include <cstdint>
#include <string>

#include "dashboard/pages/common/run_facts.h"
#include "dashboard/tables/models/rows_model.h"

namespace tributary::dashboard {

// State machine of a job, as the buttons need it: whether an action is possible in this state.
bool may_pause(wire::JobState state);
bool may_resume(wire::JobState state);
bool may_stop(wire::JobState state);

struct ControlJobRow {
  std::uint64_t place = 0;  // position in the order of submission, from 1
  std::uint64_t job = 0;
  std::string name = {};
  wire::JobState state = wire::JobState::unspecified;
  std::string state_name = {};
  std::string reason = {};  // of the state; may be empty
  std::uint64_t rounds_done = 0;
  std::uint64_t rounds_configured = 0;
  std::size_t agents_up = 0;
};

class ControlJobsModel : public RowsModel<ControlJobRow> {
 public:
  explicit ControlJobsModel(QObject* parent = nullptr);

  void update(const RunView& view);
  void clear() { show_rows({}); }
  int row_of(std::uint64_t job) const;  // -1: no such job

  double number(int row, int column) const override;
  std::string_view words(int row, int column) const override;
  QString number_text(int row, int column) const override;
  CellMark mark(int row, int column) const override;

 protected:
  bool same_item(const ControlJobRow& a, const ControlJobRow& b) const override;
  bool same_values(const ControlJobRow& a, const ControlJobRow& b) const override;
};

}  // namespace tributary::dashboard
