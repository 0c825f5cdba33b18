#include "dashboard/plot/layers/legend_layout.h"

#include <algorithm>

namespace tributary::dashboard {

LegendLayout lay_out_legend(std::span<const double> widths, double more_width, QRectF area,
                            double row_height, std::size_t rows_max) {
  LegendLayout layout;
  double x = area.left();
  std::size_t row = 0;
  const auto top = [&] { return area.top() + static_cast<double>(row) * row_height; };
  for (const double full_width : widths) {
    const double width = std::min(full_width, area.width());
    if (x > area.left() && x + width > area.right()) {
      if (row + 1 == rows_max) break;
      ++row;
      x = area.left();
    }
    layout.entries.emplace_back(x, top(), width, row_height);
    x += width;
  }
  if (layout.entries.size() < widths.size()) {
    // The note replaces as many entries of the last row as it needs, but stays in that row.
    const auto too_far = [&] {
      const QRectF& last = layout.entries.back();
      return last.right() + more_width > area.right() && last.left() > area.left();
    };
    while (!layout.entries.empty() && too_far()) layout.entries.pop_back();
    const double left = layout.entries.empty() ? area.left() : layout.entries.back().right();
    layout.more = QRectF(left, top(), std::max(0.0, area.right() - left), row_height);
  }
  layout.height = widths.empty() ? 0 : static_cast<double>(row + 1) * row_height;
  return layout;
}

}  // namespace tributary::dashboard
