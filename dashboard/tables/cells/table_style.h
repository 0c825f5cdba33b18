// Adds horizontal margins to cells and headers. Without them a right-aligned number touches the
// next column. Set it on a table; the table does not own it. Stateless.
#pragma once

#include <QProxyStyle>

namespace tributary::dashboard {

class TableStyle : public QProxyStyle {
 public:
  int pixelMetric(PixelMetric metric, const QStyleOption* option,
                  const QWidget* widget) const override {
    constexpr int kCellPadding = 6;  // pixels
    switch (metric) {
      case PM_HeaderMargin:
      case PM_FocusFrameHMargin:
        return kCellPadding;
      default:
        return QProxyStyle::pixelMetric(metric, option, widget);
    }
  }
};

}  // namespace tributary::dashboard
