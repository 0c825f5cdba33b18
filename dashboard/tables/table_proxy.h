// The rows that a filter leaves, in the order that a person asks for.
#pragma once

#include <QSortFilterProxyModel>

#include "dashboard/tables/cells/table_model.h"
#include "dashboard/tables/table_filter.h"

namespace tributary::dashboard {

class TableProxy : public QSortFilterProxyModel {
 public:
  // The model must outlive it.
  explicit TableProxy(TableModel& table, QObject* parent = nullptr);

  const TableModel& table() const { return table_; }
  void set_filter(const QString& line);
  // Only rows with at least this number in this column; -1: all.
  void set_least(int column, double least);
  bool filtered() const { return !filter_.empty() || least_column_ >= 0; }

 protected:
  // By numbers and not by their texts; what is not known comes last, whichever way it is sorted.
  bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;
  bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

 private:
  TableModel& table_;
  TableFilter filter_;
  int least_column_ = -1;
  double least_ = 0;
};

}  // namespace tributary::dashboard
