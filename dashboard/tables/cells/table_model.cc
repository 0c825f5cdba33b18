#include "dashboard/tables/cells/table_model.h"

#include <algorithm>
#include <cmath>

#include "dashboard/tables/cells/shown_text.h"

namespace tributary::dashboard {
namespace {

// Wall times all have the same length and read as words, so they are aligned left like a text.
QVariant alignment_of(const TableColumn& column) {
  const bool to_the_right = column.kind == CellKind::number && column.unit != Unit::wall_time;
  return QVariant::fromValue(Qt::Alignment(Qt::AlignVCenter) |
                             (to_the_right ? Qt::AlignRight : Qt::AlignLeft));
}

}  // namespace

int TableModel::column_of(const QString& key) const {
  const auto found = std::ranges::find(columns_, key, &TableColumn::key);
  return found == columns_.end() ? -1 : static_cast<int>(found - columns_.begin());
}

SharedSeries TableModel::curve(int /*row*/, int /*column*/) const { return {}; }

CellMark TableModel::mark(int /*row*/, int /*column*/) const { return CellMark::none; }

// A dash stands for an unknown number.
QString TableModel::number_text(int row, int column) const {
  const double value = number(row, column);
  return std::isfinite(value) ? text_of(column_at(column).unit, value) : QString(QChar(0x2013));
}

QString TableModel::text(int row, int column) const {
  switch (column_at(column).kind) {
    case CellKind::text:
    case CellKind::rank:
      return shown_text(words(row, column));
    case CellKind::number:
      return number_text(row, column);
    case CellKind::curve:
      break;
  }
  return {};
}

int TableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(columns_.size());
}

QVariant TableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  const TableColumn& column = column_at(section);
  switch (role) {
    case Qt::DisplayRole:
      return column.title;
    case Qt::ToolTipRole:
      return column.tip.isEmpty() ? QVariant() : tip_text(column.tip);
    case Qt::TextAlignmentRole:
      return alignment_of(column);
    default:
      return {};
  }
}

// Qt asks for each visible cell at each repaint, so texts are made on demand.
QVariant TableModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid)) {
    return {};
  }
  const int row = index.row();
  const TableColumn& column = column_at(index.column());
  switch (role) {
    case Qt::DisplayRole:
      return text(row, index.column());
    case Qt::ToolTipRole:
      return column.kind == CellKind::text
                 ? QVariant(tip_text(whole_text(words(row, index.column()))))
                 : QVariant();
    case Qt::TextAlignmentRole:
      return alignment_of(column);
    case kMarkRole:
      return static_cast<int>(mark(row, index.column()));
    case kCurveRole:
      // The delegate draws the series; the cell itself has no text.
      return column.kind == CellKind::curve ? QVariant::fromValue(curve(row, index.column()))
                                            : QVariant();
    default:
      return {};
  }
}

}  // namespace tributary::dashboard
