#include "dashboard/tables/table_text.h"

#include <QDateTime>
#include <cmath>
#include <numeric>

#include "dashboard/plot/files/file_export.h"
#include "dashboard/tables/cells/shown_text.h"

namespace tributary::dashboard {
namespace {

// The header contains the unit of the numbers below it. Wall times are written in UTC.
QString head_of(const TableColumn& column) {
  if (column.kind != CellKind::number) return column.title;
  const QString unit = column.unit == Unit::wall_time ? "UTC" : base_unit(column.unit);
  return unit.isEmpty() ? column.title : column.title + " (" + unit + ")";
}

// 15 significant digits. Unknown numbers are empty fields.
QString number_of(const TableColumn& column, double value) {
  if (!std::isfinite(value)) return {};
  if (column.unit != Unit::wall_time) return QString::number(value, 'g', 15);
  const auto milliseconds = static_cast<qint64>(std::llround(value * 1000));
  return QDateTime::fromMSecsSinceEpoch(milliseconds).toUTC().toString(Qt::ISODateWithMs);
}

QString cell_of(const TableModel& model, int row, int column) {
  const TableColumn& of = model.columns()[static_cast<std::size_t>(column)];
  switch (of.kind) {
    case CellKind::text:
    case CellKind::rank:
      return whole_text(model.words(row, column));
    case CellKind::number:
      return number_of(of, model.number(row, column));
    case CellKind::curve:
      break;
  }
  return {};
}

}  // namespace

QByteArray table_text(const TableProxy& table, const std::vector<int>& rows,
                      const std::vector<int>& columns, char separator) {
  const TableModel& model = table.table();
  std::vector<int> written;  // curves have no text form
  for (const int column : columns) {
    const TableColumn& of = model.columns()[static_cast<std::size_t>(column)];
    if (of.kind != CellKind::curve) written.push_back(column);
  }
  QByteArray out;
  const auto write_line = [&](const auto& field_of) {
    for (std::size_t i = 0; i < written.size(); ++i) {
      if (i > 0) out += separator;
      out += csv_field(field_of(written[i]), separator);
    }
    // RFC 4180 ends lines with both.
    out += "\r\n";
  };
  write_line(
      [&](int column) { return head_of(model.columns()[static_cast<std::size_t>(column)]); });
  for (const int row : rows) {
    const int source = table.mapToSource(table.index(row, 0)).row();
    write_line([&](int column) { return cell_of(model, source, column); });
  }
  return out;
}

// The visible rows, in the order of the view.
Status write_table(const TableProxy& table, const std::vector<int>& columns, const QString& file) {
  std::vector<int> rows(static_cast<std::size_t>(table.rowCount()));
  std::iota(rows.begin(), rows.end(), 0);
  const QByteArray text = table_text(table, rows, columns);
  return write_file(file, [&](QIODevice& out) { return out.write(text) == text.size(); });
}

}  // namespace tributary::dashboard
