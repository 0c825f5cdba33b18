#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "cli/report/svg/panels.h"

namespace tributary::report {
namespace {

constexpr int kYTicks = 5;            // approximate number of ticks
constexpr std::size_t kDotsMax = 60;  // longer lines have no dots

// Adds each line to the ones before it. A gap in one line is a gap in all following ones.
std::vector<Series> stacked(const std::vector<Series>& series) {
  std::vector<Series> out;
  Points below;
  for (const Series& each : series) {
    out.push_back(each);
    if (each.reference) continue;
    Points& points = out.back().points;
    for (std::size_t i = 0; i < points.size() && i < below.size(); ++i) points[i].y += below[i].y;
    below = points;
  }
  return out;
}

// A value holds until the next point, so each step is horizontal first and then vertical.
Points stairs(const Points& points) {
  Points out;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i > 0) out.push_back({points[i].x, points[i - 1].y});
    out.push_back(points[i]);
  }
  return out;
}

// Removes points outside the axis, which would otherwise be drawn beyond its ends.
std::vector<Series> inside(std::vector<Series> series, const Axis& x) {
  // Tolerates rounding of positions at the ends of the axis.
  const double slack = 1e-9 * std::max(std::abs(x.low), std::abs(x.high));
  for (Series& each : series) {
    std::erase_if(each.points, [&](const Point& point) {
      return point.x < x.low - slack || point.x > x.high + slack;
    });
  }
  return series;
}

// One panel with its own y axis. Refers to its arguments, which must outlive it.
class LinePainter {
 public:
  LinePainter(Drawing& drawing, const LinePanel& panel, const Axis& x)
      : drawing_(drawing),
        panel_(panel),
        shown_(inside(panel.stacked ? stacked(panel.series) : panel.series, x)),
        x_(x) {}

  double paint(double y) {
    drawing_.words(0, y + 12, panel_.title, Anchor::start, "label");
    const double top = draw_legend(drawing_, legend(), 1.15 * width_of(panel_.title) + 20, y) + 6;
    const double bottom = top + panel_.height;
    if (!make_axis(top, bottom)) {
      drawing_.box(x_.begin, top, x_.end - x_.begin, panel_.height, "empty");
      drawing_.words((x_.begin + x_.end) / 2, (top + bottom) / 2, "no values", Anchor::middle,
                     "tick");
      return bottom;
    }
    draw_grid();
    if (panel_.stacked) draw_areas(bottom);
    // Faint lines are drawn first, so that the others are in front.
    for (const bool faint : {true, false}) {
      for (const Series& series : shown_) {
        if (series.faint == faint) draw_line(series);
      }
    }
    return bottom;
  }

 private:
  // A logarithmic axis has no place for zero and negative values.
  bool usable(double value) const { return std::isfinite(value) && (!panel_.log || value > 0); }

  // Returns false if no value can be drawn. SVG's y grows downwards, so the axis begins at the
  // bottom.
  bool make_axis(double top, double bottom) {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (const Series& series : shown_) {
      for (const Point& point : series.points) {
        if (!usable(point.y)) continue;
        low = std::min(low, point.y);
        high = std::max(high, point.y);
      }
    }
    if (low > high) return false;
    if (panel_.from_zero || panel_.stacked) low = std::min(low, 0.0);
    y_.unit = panel_.unit;
    y_.log = panel_.log;
    y_.begin = bottom;
    y_.end = top;
    const Extent range = round_range(panel_.unit, {low, high}, panel_.log, kYTicks);
    y_.ticks = axis_ticks(panel_.unit, range, panel_.log, kYTicks);
    y_.low = range.low;
    y_.high = range.high;
    return true;
  }

  void draw_grid() {
    const std::string unit = y_.ticks.unit.empty() ? "" : ' ' + y_.ticks.unit;
    for (std::size_t i = 0; i < y_.ticks.at.size(); ++i) {
      const double y = y_.place(y_.ticks.at[i]);
      drawing_.line(x_.begin, y, x_.end, y, "grid");
      drawing_.words(x_.begin - 8, y + 4, y_.ticks.labels[i] + unit, Anchor::end, "tick");
    }
    for (const double at : x_.ticks.at) {
      const double x = x_.place(at);
      drawing_.line(x, y_.end, x, y_.begin, "grid");
    }
    drawing_.line(x_.begin, y_.begin, x_.end, y_.begin, "axis");
  }

  // From values to px. Unusable values become gaps.
  Points placed(const Points& points) const {
    Points out;
    for (const Point& point : points) {
      out.push_back({x_.place(point.x), usable(point.y) ? y_.place(point.y) : kGap});
    }
    return out;
  }

  // From the lowest layer to the highest. Reference lines are no layers.
  void draw_areas(double bottom) {
    Points below;
    for (const Series& series : shown_) {
      if (series.reference) continue;
      Points above = placed(series.points);
      if (below.empty()) {
        below = above;
        for (Point& point : below) point.y = bottom;
      }
      drawing_.area(above, below, colour_class(series.colour) + " area");
      below = std::move(above);
    }
  }

  // The classes are defined in picture_styles.cc.
  std::string class_of(const Series& series) const {
    std::string css_class = series.reference ? "ref line" : colour_class(series.colour) + " line";
    if (series.faint) css_class += " faint";
    return css_class;
  }

  void draw_line(const Series& series) {
    // Only the picture is thinned; sums and last values in the legend are computed from all points.
    const Points thinned = decimated(series.points, kLinePointsMax);
    drawing_.path(placed(series.step ? stairs(thinned) : thinned), class_of(series));
    if (series.faint || panel_.stacked || series.points.size() > kDotsMax) return;
    for (const Point& point : series.points) {
      if (!usable(point.y)) continue;
      drawing_.dot(x_.place(point.x), y_.place(point.y), series.reference ? 1.5 : 2.5,
                   class_of(series) + " dot",
                   fmt::format("{}: {} at {}", series.label, quantity_text(panel_.unit, point.y),
                               quantity_text(x_.unit, point.x)));
    }
  }

  // Returns the last value or the sum of a line, for the legend.
  std::string figure_of(const Series& series) const {
    double sum = 0;
    double last = kGap;
    for (const Point& point : series.points) {
      if (!std::isfinite(point.y)) continue;
      sum += point.y;
      last = point.y;
    }
    if (!panel_.sums) return quantity_text(panel_.unit, last);
    return quantity_text(panel_.unit, sum) + " in all";
  }

  std::vector<LegendEntry> legend() const {
    std::vector<LegendEntry> entries;
    std::set<std::string> seen;
    for (const Series& series : panel_.series) {
      if (!seen.insert(series.label).second) continue;
      // Lines with the same label share an entry, which shows their number instead of a value.
      const auto alike = std::ranges::count(panel_.series, series.label, &Series::label);
      const std::string text = alike > 1 ? fmt::format("{} ({})", series.label, alike)
                                         : fmt::format("{}  {}", series.label, figure_of(series));
      entries.push_back({.css_class = class_of(series),
                         .text = text,
                         .area = panel_.stacked && !series.reference});
    }
    return entries;
  }

  Drawing& drawing_;
  const LinePanel& panel_;
  const std::vector<Series> shown_;
  const Axis& x_;
  Axis y_;
};

}  // namespace

// The tiny divisors keep the result finite for a range without a width.
double Axis::place(double value) const {
  const double share = log ? (std::log10(value) - std::log10(low)) /
                                 std::max(std::log10(high) - std::log10(low), 1e-12)
                           : (value - low) / std::max(high - low, 1e-300);
  return begin + share * (end - begin);
}

// Further colours repeat the first ones with the class "again", which dashes the line.
std::string colour_class(std::size_t colour) {
  constexpr std::size_t kColours = 6;
  return fmt::format("s{}{}", colour % kColours, colour >= kColours ? " again" : "");
}

double draw_legend(Drawing& drawing, const std::vector<LegendEntry>& entries, double left,
                   double y) {
  // Height of a line of the legend in px, and the number of entries before "and N more".
  constexpr double kLine = 17;
  constexpr std::size_t kEntriesMax = 24;
  double x = left;
  std::size_t shown = 0;
  for (const LegendEntry& entry : entries) {
    const bool rest = shown == kEntriesMax;
    const std::string text = rest ? fmt::format("and {} more", entries.size() - shown) : entry.text;
    const double width = 28 + width_of(text);
    if (x > left && x + width > kFigureWidth) {
      x = left;
      y += kLine;
    }
    if (!rest && entry.area) {
      drawing.box(x, y + 3, 16, 10,
                  entry.css_class.substr(0, entry.css_class.find(" line")) + " area");
    } else if (!rest) {
      drawing.line(x, y + 8, x + 16, y + 8, entry.css_class);
    }
    drawing.words(x + 21, y + 12, text, Anchor::start, "legend");
    if (rest) break;
    ++shown;
    x += width + 10;
  }
  return y + kLine;
}

double draw_panel(Drawing& drawing, const LinePanel& panel, const Axis& x, double y) {
  return LinePainter(drawing, panel, x).paint(y);
}

}  // namespace tributary::report
