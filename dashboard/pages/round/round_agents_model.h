// The table of the agents of one round. GUI thread only.
//
// update() replaces the rows and keeps the selection by agent id. Linear in the agents of the
// round.
#pragma once

#include <string>

#include "core/run/round_detail.h"
#include "dashboard/tables/models/rows_model.h"

namespace tributary::dashboard {

struct RoundAgent {
  AgentInRound agent = {};
  std::string part = {};
  // A straggler, or left out entirely or in part.
  bool late = false;
};

class RoundAgentsModel : public RowsModel<RoundAgent> {
 public:
  explicit RoundAgentsModel(QObject* parent = nullptr);

  // The rows are in the order of the round's agents.
  void update(const RoundDetail& detail);
  void clear() { show_rows({}); }

  double number(int row, int column) const override;
  std::string_view words(int row, int column) const override;
  CellMark mark(int row, int column) const override;

 protected:
  bool same_item(const RoundAgent& a, const RoundAgent& b) const override;
  bool same_values(const RoundAgent& a, const RoundAgent& b) const override;
};

}  // namespace tributary::dashboard
