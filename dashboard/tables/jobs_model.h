// The jobs of a run, in the order of their submission, and how far each has come.
#pragma once

#include "dashboard/run/run_view.h"
#include "dashboard/tables/rows_model.h"

namespace tributary::dashboard {

struct JobTableRow {
  JobInfo job = {};
  std::uint64_t rounds = 0;  // the last one that was committed
};

class JobsModel : public RowsModel<JobTableRow> {
 public:
  explicit JobsModel(QObject* parent = nullptr);

  void update(const RunView& view);
  void clear() { show_rows({}); }

  std::uint64_t job(int row) const { return row_at(row).job.job; }

  double number(int row, int column) const override;
  std::string_view words(int row, int column) const override;
  QString number_text(int row, int column) const override;
  CellMark mark(int row, int column) const override;

 protected:
  bool same_thing(const JobTableRow& a, const JobTableRow& b) const override;
  bool looks_same(const JobTableRow& a, const JobTableRow& b) const override;
};

}  // namespace tributary::dashboard
