#include "dashboard/tables/table_proxy.h"

#include <cmath>

#include "dashboard/tables/cells/shown_text.h"

namespace tributary::dashboard {

TableProxy::TableProxy(TableModel& table, QObject* parent)
    : QSortFilterProxyModel(parent), table_(table) {
  setSourceModel(&table);
}

void TableProxy::set_filter(const QString& line) {
  filter_ = TableFilter(line, table_.columns());
  invalidateFilter();
}

void TableProxy::set_least(int column, double least) {
  least_column_ = column;
  least_ = least;
  invalidateFilter();
}

bool TableProxy::lessThan(const QModelIndex& left, const QModelIndex& right) const {
  const int column = left.column();
  switch (table_.columns()[static_cast<std::size_t>(column)].kind) {
    case CellKind::text:
      return compare_naturally(table_.words(left.row(), column),
                               table_.words(right.row(), column)) < 0;
    case CellKind::number:
    case CellKind::rank:
      break;
    case CellKind::curve:
      return false;
  }
  const double a = table_.number(left.row(), column);
  const double b = table_.number(right.row(), column);
  if (std::isnan(a) || std::isnan(b)) {
    // Qt inverts the comparison for a descending order, so the answer for unknown numbers depends
    // on it.
    if (std::isnan(a) == std::isnan(b)) return false;
    return std::isnan(b) == (sortOrder() == Qt::AscendingOrder);
  }
  return a < b;
}

bool TableProxy::filterAcceptsRow(int row, const QModelIndex& /*parent*/) const {
  // The negated comparison also rejects unknown numbers (NaN).
  if (least_column_ >= 0 && !(table_.number(row, least_column_) >= least_)) return false;
  return filter_.accepts(table_, row);
}

}  // namespace tributary::dashboard
