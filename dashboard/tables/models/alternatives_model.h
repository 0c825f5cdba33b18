// The table of the alternatives that the planner considered for one round, with their predicted
// costs. The figures are those stored in the plan. GUI thread only.
//
// update() replaces all rows. An older plan may lack some figures; they are NaN and shown as
// unknown.
#pragma once

#include "core/run/round_detail.h"
#include "dashboard/tables/models/rows_model.h"

namespace tributary::dashboard {

class AlternativesModel : public RowsModel<PlanAlternative> {
 public:
  explicit AlternativesModel(QObject* parent = nullptr);

  // Shows the alternatives of this round's plan.
  void update(const RoundDetail& detail);
  void clear() { show_rows({}); }
  int chosen_row() const;  // -1: none

  double number(int row, int column) const override;
  std::string_view words(int row, int column) const override;
  CellMark mark(int row, int column) const override;

 protected:
  bool same_item(const PlanAlternative& a, const PlanAlternative& b) const override;
  bool same_values(const PlanAlternative& a, const PlanAlternative& b) const override;
};

}  // namespace tributary::dashboard
