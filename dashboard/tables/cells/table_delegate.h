// Draws a cell: how it stands out by the palette's colours, and curves as small pictures.
#pragma once

#include <QStyledItemDelegate>

namespace tributary::dashboard {

class TableDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  static constexpr int kCurveWidth = 90;        // pixels
  static constexpr int kCurveSamplesMax = 200;  // the newest

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;
};

}  // namespace tributary::dashboard
