// Filters and sorts the rows of a TableModel. GUI thread only.
//
// Sorting and filtering cost a comparison per row, in the thread of the GUI, so models bound their
// rows.
#pragma once

#include <QSortFilterProxyModel>

#include "dashboard/tables/cells/table_model.h"
#include "dashboard/tables/table_filter.h"

namespace tributary::dashboard {

class TableProxy : public QSortFilterProxyModel {
 public:
  // The model must outlive the proxy.
  explicit TableProxy(TableModel& table, QObject* parent = nullptr);

  const TableModel& table() const { return table_; }
  // Filters the rows; the syntax is that of TableFilter.
  void set_filter(const QString& line);
  // Accepts only rows whose number in `column` is at least `least`. Column -1 accepts all rows.
  void set_least(int column, double least);
  // Whether any filter is set, even if it hides no row.
  bool filtered() const { return !filter_.empty() || least_column_ >= 0; }

 protected:
  // Compares numbers by value and texts naturally. Unknown numbers come last in either sort order.
  bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;
  bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

 private:
  TableModel& table_;
  TableFilter filter_;
  int least_column_ = -1;
  double least_ = 0;
};

}  // namespace tributary::dashboard
