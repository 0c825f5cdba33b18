// Positions the entries of a legend in rows above the plot, as many as fit. Pure. Entries are never
// reordered or shrunk: those that do not fit are counted in the note.
#pragma once

#include <QRectF>
#include <cstddef>
#include <span>
#include <vector>

namespace tributary::dashboard {

// The positions of the entries, in pixels of the view.
struct LegendLayout {
  std::vector<QRectF> entries;  // entries that fit, starting with the first
  QRectF more;                  // rectangle of the note "+12 more"; null if all entries fit
  double height = 0;
};

// `widths` are those of the entries, `more_width` is that of the note about omitted entries.
LegendLayout lay_out_legend(std::span<const double> widths, double more_width, QRectF area,
                            double row_height, std::size_t rows_max);

}  // namespace tributary::dashboard
