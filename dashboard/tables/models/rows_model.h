// A table model over rows that are plain values. Each update passes the complete new content; the
// model emits only the difference, in a bounded number of signals. Selection and scroll position
// survive an update.
//
// A derived class defines which rows are the same thing and which look the same. GUI thread only.
// show_rows() compares every row once.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "dashboard/tables/cells/table_model.h"

namespace tributary::dashboard {

// Collects changed rows into at most kStretchesMax ranges. When the limit is reached, the last
// range grows, so that unchanged rows may be reported as changed; the reverse never happens.
class ChangedRows {
 public:
  static constexpr std::size_t kStretchesMax = 16;

  // Rows must be added in ascending order.
  void add(int row) {
    if (!stretches_.empty() && row <= stretches_.back().second + 1) {
      stretches_.back().second = row;
    } else if (stretches_.size() < kStretchesMax) {
      stretches_.emplace_back(row, row);
    } else {
      stretches_.back().second = row;
    }
  }
  const std::vector<std::pair<int, int>>& stretches() const { return stretches_; }

 private:
  std::vector<std::pair<int, int>> stretches_;
};

template <typename Row>
class RowsModel : public TableModel {
 public:
  using TableModel::TableModel;

  int rowCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
  }
  const Row& row_at(int row) const { return rows_[static_cast<std::size_t>(row)]; }

 protected:
  // Whether both rows have the same subject; their values may differ.
  virtual bool same_item(const Row& a, const Row& b) const = 0;
  virtual bool same_values(const Row& a, const Row& b) const = 0;  // same displayed values

  const std::vector<Row>& rows() const { return rows_; }

  // Replaces the content. Rows may disappear at the front and the end, change, and appear at the
  // end. Any other difference resets the model.
  void show_rows(std::vector<Row>&& now) {
    const std::size_t gone = gone_before(now);
    if (!continues(now, gone)) {
      beginResetModel();
      rows_ = std::move(now);
      endResetModel();
      return;
    }
    remove(0, gone);
    if (now.size() < rows_.size()) remove(now.size(), rows_.size() - now.size());
    change(now);
    append(std::move(now));
  }

 private:
  std::size_t gone_before(const std::vector<Row>& now) const {
    if (now.empty()) return rows_.size();
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (same_item(rows_[i], now.front())) return i;
    }
    return rows_.size();
  }
  bool continues(const std::vector<Row>& now, std::size_t gone) const {
    if (gone == rows_.size()) return rows_.empty() || now.empty();
    for (std::size_t i = 0; i < now.size() && gone + i < rows_.size(); ++i) {
      if (!same_item(rows_[gone + i], now[i])) return false;
    }
    return true;
  }
  void remove(std::size_t first, std::size_t count) {
    if (count == 0) return;
    beginRemoveRows({}, static_cast<int>(first), static_cast<int>(first + count) - 1);
    const auto begin = rows_.begin() + static_cast<std::ptrdiff_t>(first);
    rows_.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
    endRemoveRows();
  }
  void change(std::vector<Row>& now) {
    ChangedRows changed;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (same_values(rows_[i], now[i])) continue;
      std::swap(rows_[i], now[i]);
      changed.add(static_cast<int>(i));
    }
    for (const auto& stretch : changed.stretches()) {
      emit dataChanged(index(stretch.first, 0), index(stretch.second, columnCount() - 1));
    }
  }
  void append(std::vector<Row>&& now) {
    if (now.size() == rows_.size()) return;
    const auto old = static_cast<std::ptrdiff_t>(rows_.size());
    beginInsertRows({}, static_cast<int>(old), static_cast<int>(now.size()) - 1);
    rows_.insert(rows_.end(), std::make_move_iterator(now.begin() + old),
                 std::make_move_iterator(now.end()));
    endInsertRows();
  }

  std::vector<Row> rows_;
};

// Compares numbers that may be unknown (NaN); two unknown numbers are equal.
inline bool same_number(double a, double b) { return a == b || (a != a && b != b); }

}  // namespace tributary::dashboard
