// What all tables have in common: columns that say what is in them, cells that are a number or a
// text, and rows that come, change and go without disturbing the others.
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
  rank,  // a word that stands for a number, by which it is sorted: a level
  curve,
};

struct TableColumn {
  QString key = {};    // what a filter calls it: "round_time"
  QString title = {};  // at its head, without a unit
  CellKind kind = CellKind::text;
  Unit unit = Unit::one;  // of numbers
  QString tip = {};
  bool shown = true;  // unless somebody asks for it
};

// How a cell stands out; it says the same by its words.
enum class CellMark : std::uint8_t { none, faint, good, chosen, warning, error };

inline constexpr int kMarkRole = Qt::UserRole;       // int of CellMark
inline constexpr int kCurveRole = Qt::UserRole + 1;  // SharedSeries

class TableModel : public QAbstractTableModel {
 public:
  explicit TableModel(std::vector<TableColumn> columns, QObject* parent = nullptr)
      : QAbstractTableModel(parent), columns_(std::move(columns)) {}

  const std::vector<TableColumn>& columns() const { return columns_; }
  int column_of(const QString& key) const;  // -1: there is none

  // A cell, without a QVariant around it: what tables are sorted, filtered and written by. Rows and
  // columns must be there, and the column of that kind; a rank has a number and words.
  virtual double number(int row, int column) const = 0;           // NaN: not known
  virtual std::string_view words(int row, int column) const = 0;  // as long as the row stays
  virtual SharedSeries curve(int row, int column) const;          // may be null
  virtual QString number_text(int row, int column) const;         // "–" for what is not known
  virtual CellMark mark(int row, int column) const;
  QString text(int row, int column) const;

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
