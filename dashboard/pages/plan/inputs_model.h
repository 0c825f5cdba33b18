// The table of the planner's inputs for one decision. GUI thread only.
//
// The rows are copies, in the order in which the planner used them. Nothing here can fail.
#pragma once

#include "dashboard/pages/plan/plan_inputs.h"
#include "dashboard/tables/models/rows_model.h"

namespace tributary::dashboard {

class InputsModel : public RowsModel<PlanInput> {
 public:
  explicit InputsModel(QObject* parent = nullptr);

  void update(std::vector<PlanInput> inputs) { show_rows(std::move(inputs)); }
  void clear() { show_rows({}); }

  double number(int row, int column) const override;
  std::string_view words(int row, int column) const override;

 protected:
  bool same_item(const PlanInput& a, const PlanInput& b) const override;
  bool same_values(const PlanInput& a, const PlanInput& b) const override;
};

}  // namespace tributary::dashboard
