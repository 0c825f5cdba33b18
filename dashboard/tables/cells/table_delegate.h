// Draws the cells of all tables: text in the colour of the cell's CellMark, and curves as small
// pictures.
//
// GUI thread only. Drawing a curve costs at most kCurveSamplesMax samples.
#pragma once

#include <QStyledItemDelegate>

namespace tributary::dashboard {

class TableDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  static constexpr int kCurveWidth = 90;        // pixels
  static constexpr int kCurveSamplesMax = 200;  // only the newest ones are drawn

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;
};

}  // namespace tributary::dashboard
