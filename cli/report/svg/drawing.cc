#include "cli/report/svg/drawing.h"

#include <fmt/format.h>

#include <cmath>

#include "cli/report/svg/xml_text.h"

namespace tributary::report {
namespace {

// Average width of a character in px at the font size of 12 px.
// No font is measured: pictures must be the same on every machine. The estimate is only used for
// spacing.
constexpr double kCharacterWidth = 6.4;

// The names of SVG's attribute text-anchor.
std::string_view name_of(Anchor anchor) {
  return anchor == Anchor::start ? "start" : anchor == Anchor::middle ? "middle" : "end";
}

std::string place(const Point& point) { return coordinate(point.x) + " " + coordinate(point.y); }

}  // namespace

double width_of(std::string_view text) {
  return kCharacterWidth * static_cast<double>(characters(text));
}

void Drawing::open_group(std::string_view css_class) {
  text_ += fmt::format("<g class=\"{}\">\n", css_class);
}

// Closes the element that was written last. Browsers show the hint as a tooltip.
void Drawing::finish(std::string_view hint) {
  if (hint.empty()) {
    text_ += "/>\n";
    return;
  }
  // The hint becomes a child of the last element, which therefore needs a closing tag.
  const std::size_t element = text_.rfind('<');
  const std::string tag = text_.substr(element + 1, text_.find(' ', element) - element - 1);
  text_ += fmt::format("><title>{}</title></{}>\n", escaped(hint), tag);
}

void Drawing::line(double x1, double y1, double x2, double y2, std::string_view css_class,
                   std::string_view hint) {
  text_ += fmt::format(R"(<line class="{}" x1="{}" y1="{}" x2="{}" y2="{}")", css_class,
                       coordinate(x1), coordinate(y1), coordinate(x2), coordinate(y2));
  finish(hint);
}

void Drawing::box(double x, double y, double width, double height, std::string_view css_class,
                  std::string_view hint) {
  text_ += fmt::format(R"(<rect class="{}" x="{}" y="{}" width="{}" height="{}")", css_class,
                       coordinate(x), coordinate(y), coordinate(width), coordinate(height));
  finish(hint);
}

void Drawing::dot(double x, double y, double radius, std::string_view css_class,
                  std::string_view hint) {
  text_ += fmt::format(R"(<circle class="{}" cx="{}" cy="{}" r="{}")", css_class, coordinate(x),
                       coordinate(y), coordinate(radius));
  finish(hint);
}

void Drawing::words(double x, double y, std::string_view text, Anchor anchor,
                    std::string_view css_class, std::string_view hint) {
  text_ += fmt::format(R"(<text class="{}" x="{}" y="{}" text-anchor="{}">)", css_class,
                       coordinate(x), coordinate(y), name_of(anchor));
  if (!hint.empty()) text_ += fmt::format("<title>{}</title>", escaped(hint));
  text_ += escaped(text) + "</text>\n";
}

// A gap (a value that is not finite) interrupts the line. A single point between two gaps would be
// invisible, so it becomes a dot.
void Drawing::path(std::span<const Point> points, std::string_view css_class) {
  std::string pen;
  const auto gap = [&](std::size_t i) {
    return i >= points.size() || !std::isfinite(points[i].y) || !std::isfinite(points[i].x);
  };
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (gap(i)) continue;
    const bool begins = i == 0 || gap(i - 1);
    if (begins && gap(i + 1)) {
      dot(points[i].x, points[i].y, 2, fmt::format("{} dot", css_class));
      continue;
    }
    pen += (begins ? "M" : "L") + place(points[i]);
  }
  if (!pen.empty()) text_ += fmt::format("<path class=\"{}\" d=\"{}\"/>\n", css_class, pen);
}

// Each stretch without a gap becomes one closed polygon: forwards along the upper edge, back along
// the lower one. Both edges have the same number of points.
void Drawing::area(std::span<const Point> above, std::span<const Point> below,
                   std::string_view css_class) {
  const auto whole = [&](std::size_t i) {
    return std::isfinite(above[i].y) && std::isfinite(below[i].y);
  };
  std::string pen;
  for (std::size_t begin = 0; begin < above.size();) {
    std::size_t end = begin;
    while (end < above.size() && whole(end)) ++end;
    for (std::size_t i = begin; i < end; ++i) pen += (i == begin ? "M" : "L") + place(above[i]);
    for (std::size_t i = end; i > begin; --i) pen += "L" + place(below[i - 1]);
    if (end > begin) pen += "Z";
    begin = end + 1;
  }
  if (!pen.empty()) text_ += fmt::format("<path class=\"{}\" d=\"{}\"/>\n", css_class, pen);
}

}  // namespace tributary::report
