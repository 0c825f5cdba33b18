// Where the entries of a legend stand: in rows above the picture, as many as there is room for.
#pragma once

#include <QRectF>
#include <cstddef>
#include <span>
#include <vector>

namespace tributary::dashboard {

struct LegendLayout {
  std::vector<QRectF> entries;  // of those that fit, from the first on
  QRectF more;                  // where "+12 more" stands; null when all fit
  double height = 0;
};

// `widths` of the entries, `more_width` of the note about those left out.
LegendLayout lay_out_legend(std::span<const double> widths, double more_width, QRectF room,
                            double row_height, std::size_t rows_max);

}  // namespace tributary::dashboard
