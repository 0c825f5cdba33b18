// The table of a run's aggregators in the network, one row per aggregator and job. GUI thread only.
//
// update() keeps the rows that are still there, so the selection survives. All rows are compared;
// there are at most kAggregatorRowsMax. Cells that the journal does not state show "–".
#pragma once

#include <string_view>
#include <vector>

#include "dashboard/pages/aggregator/aggregator_facts.h"
#include "dashboard/tables/models/rows_model.h"

namespace tributary::dashboard {

class AggregatorsModel : public RowsModel<AggregatorRow> {
 public:
  explicit AggregatorsModel(QObject* parent = nullptr);

  void update(std::vector<AggregatorRow> now) { show_rows(std::move(now)); }
  void clear() { show_rows({}); }

  double number(int row, int column) const override;
  std::string_view words(int row, int column) const override;
  CellMark mark(int row, int column) const override;

 protected:
  bool same_item(const AggregatorRow& a, const AggregatorRow& b) const override;
  bool same_values(const AggregatorRow& a, const AggregatorRow& b) const override;
};

}  // namespace tributary::dashboard
