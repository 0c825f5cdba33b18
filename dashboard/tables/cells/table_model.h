// The base of all table models. A column has a key, a title and a kind; a cell is a number, a text
// or a curve.
//
// Derived classes own the rows and implement number() and words(). Sorting, filtering and export
// read the cells through these functions and avoid a QVariant per cell, because a table may have
// tens of thousands of rows. GUI thread only.
#pragma once

#include <QAbstractTableModel>
#include <QString>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "dashboard/plot/data/plot_data.h"
#include "dashboard/plot/data/quantity.h"

namespace tributary::dashboard {

enum class CellKind : std::uint8_t {
  text,
  number,
  rank,  // a word that is sorted by a number, for example a log level
  curve,
};

struct TableColumn {
  QString key = {};    // the name in a filter: "round_time"
  QString title = {};  // the header, without a unit
  CellKind kind = CellKind::text;
  Unit unit = Unit::one;  // of the numbers
  QString tip = {};
  bool shown = true;  // initially; the user may show or hide it
};

// The emphasis of a cell. It never carries information alone: the text says the same.
enum class CellMark : std::uint8_t { none, faint, good, chosen, warning, error };

inline constexpr int kMarkRole = Qt::UserRole;       // CellMark, as int
inline constexpr int kCurveRole = Qt::UserRole + 1;  // SharedSeries

class TableModel : public QAbstractTableModel {
 public:
  explicit TableModel(std::vector<TableColumn> columns, QObject* parent = nullptr)
      : QAbstractTableModel(parent), columns_(std::move(columns)) {}

  const std::vector<TableColumn>& columns() const { return columns_; }
  int column_of(const QString& key) const;  // -1: no such column

  // The cell accessors. The caller guarantees that row and column exist and that the column has the
  // matching kind; a rank has both a number and words.
  virtual double number(int row, int column) const = 0;           // NaN: unknown
  virtual std::string_view words(int row, int column) const = 0;  // valid until the row changes
  virtual SharedSeries curve(int row, int column) const;          // may be null
  virtual QString number_text(int row, int column) const;         // "–" if unknown
  virtual CellMark mark(int row, int column) const;
  // The text of a cell as it is displayed. Empty for a curve.
  QString text(int row, int column) const;

  // The interface of QAbstractItemModel; views use it, sorting and export do not.
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  QVariant data(const QModelIndex& index, int role) const override;

 protected:
  const TableColumn& column_at(int column) const {
    return columns_[static_cast<std::size_t>(column)];
  }

 private:
  std::vector<TableColumn> columns_;
};

}  // namespace tributary::dashboard
