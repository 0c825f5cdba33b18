#include "cli/report/svg/figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "cli/report/svg/drawing.h"
#include "cli/report/svg/panels.h"
#include "cli/report/svg/xml_text.h"
#include "core/run/units/axis_ticks.h"

namespace tributary::report {
namespace {

// Heights in px. The width of all figures is kFigureWidth, and the height follows from the panels.
constexpr double kTitleHeight = 26;
constexpr double kAxisHeight = 44;
constexpr double kBetweenPanels = 14;
constexpr int kXTicks = 9;  // approximate number of ticks
constexpr double kMarkHeight = 14;
// More marks would cover the curves; they are then omitted.
constexpr std::size_t kMarksMax = 40;

// The range of the finite x values that were taken; `first` is above `last` without any.
struct Range {
  double first = std::numeric_limits<double>::infinity();
  double last = -std::numeric_limits<double>::infinity();
  void take(double x) {
    if (!std::isfinite(x)) return;
    first = std::min(first, x);
    last = std::max(last, x);
  }
};

void take(Range& range, const LinePanel& panel) {
  for (const Series& series : panel.series) {
    for (const Point& point : series.points) range.take(point.x);
  }
}

void take(Range& range, const StripPanel& panel) {
  for (const Strip& strip : panel.strips) {
    for (const Band& band : strip.bands) {
      range.take(band.from);
      range.take(band.to);
    }
  }
}

// All panels of a figure share this axis, so their points lie above one another.
Axis x_axis_of(const Figure& figure) {
  Range range;
  for (const auto& panel : figure.panels) {
    std::visit([&](const auto& each) { take(range, each); }, panel);
  }
  if (figure.x_first) range.first = *figure.x_first;
  if (figure.x_last) range.last = *figure.x_last;
  return {.ticks = {}, .unit = figure.x_unit, .low = range.first, .high = range.last};
}

// Draws from the top to the bottom. Each panel returns the y at which the next one may begin.
class Painter {
 public:
  explicit Painter(const Figure& figure) : figure_(figure), x_(x_axis_of(figure)) {
    x_.ticks = axis_ticks(x_.unit, {x_.low, x_.high}, false, kXTicks);
    x_.begin = kPlotLeft;
    x_.end = kPlotRight;
  }

  std::string paint(bool with_styles) {
    double y = kTitleHeight + (marks_shown() ? kMarkHeight : 0);
    drawing_.words(0, 16, figure_.title, Anchor::start, "title");
    const double top = y;
    for (const auto& panel : figure_.panels) {
      y = std::visit([&](const auto& each) { return draw_panel(drawing_, each, x_, y); }, panel);
      y += kBetweenPanels;
    }
    y -= kBetweenPanels;
    draw_marks(top, y);
    draw_x_axis(y);
    return wrap(y + kAxisHeight, with_styles);
  }

 private:
  bool marks_shown() const { return !figure_.marks.empty() && figure_.marks.size() <= kMarksMax; }

  void draw_marks(double top, double bottom) {
    if (!marks_shown()) return;
    // The x from which a number fits without covering the previous one.
    double free_from = -1;
    for (const Mark& mark : figure_.marks) {
      if (mark.x < x_.low || mark.x > x_.high) continue;
      const double x = x_.place(mark.x);
      behind_.line(x, top - 2, x, bottom, "mark", mark.why);
      if (x < free_from) continue;  // the number would cover the previous one
      behind_.words(x, top - 5, mark.number, Anchor::middle, "small", mark.why);
      free_from = x + width_of(mark.number) + 4;
    }
  }

  void draw_x_axis(double y) {
    for (std::size_t i = 0; i < x_.ticks.at.size(); ++i) {
      const double x = x_.place(x_.ticks.at[i]);
      drawing_.line(x, y, x, y + 4, "axis");
      drawing_.words(x, y + 17, x_.ticks.labels[i], Anchor::middle, "tick");
    }
    const std::string unit = x_.ticks.unit.empty() ? "" : fmt::format(" ({})", x_.ticks.unit);
    drawing_.words((kPlotLeft + kPlotRight) / 2, y + 35, figure_.x_label + unit, Anchor::middle,
                   "label");
  }

  // A picture inside a page uses the page's styles; a separate file needs its own and a background.
  std::string wrap(double height, bool with_styles) const {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture\" role=\"img\" "
        "viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\">\n<title>{2}</title>\n"
        "<desc>{3}</desc>\n{4}{5}</svg>\n",
        coordinate(kFigureWidth), coordinate(height), escaped(figure_.title),
        escaped(figure_.description),
        with_styles ? fmt::format("<style>\n{}</style>\n<rect class=\"paper\" width=\"100%\" "
                                  "height=\"100%\"/>\n",
                                  picture_styles())
                    : "",
        behind_.text() + drawing_.text());
  }

  const Figure& figure_;
  Axis x_;
  // Marks are drawn into a layer of their own that comes first in the file and is therefore behind
  // the curves.
  Drawing behind_;
  Drawing drawing_;
};

bool has_values(const LinePanel& panel) {
  return std::ranges::any_of(panel.series, [](const Series& series) {
    return std::ranges::any_of(series.points,
                               [](const Point& point) { return std::isfinite(point.y); });
  });
}

bool has_values(const StripPanel& panel) {
  return std::ranges::any_of(panel.strips, [](const Strip& strip) { return !strip.bands.empty(); });
}

}  // namespace

bool has_values(const Figure& figure) {
  return std::ranges::any_of(figure.panels, [](const auto& panel) {
    return std::visit([](const auto& each) { return has_values(each); }, panel);
  });
}

std::string svg_of(const Figure& figure, bool with_styles) {
  return Painter(figure).paint(with_styles);
}

}  // namespace tributary::report
