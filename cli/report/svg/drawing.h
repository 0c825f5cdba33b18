// Writes SVG elements as text. Each has a class from picture_styles(). Texts are escaped.
//
// The object only appends: elements drawn later are in front. Positions are pixels, y grows
// downwards, and no function checks that they lie within the picture. Not thread-safe.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/report/svg/points.h"

namespace tributary::report {

enum class Anchor { start, middle, end };

class Drawing {
 public:
  // Elements until close_group() share this class.
  void open_group(std::string_view css_class);
  void close_group() { text_ += "</g>\n"; }

  // A hint is shown when the pointer rests on the element.
  void line(double x1, double y1, double x2, double y2, std::string_view css_class,
            std::string_view hint = {});
  void box(double x, double y, double width, double height, std::string_view css_class,
           std::string_view hint = {});
  void dot(double x, double y, double radius, std::string_view css_class,
           std::string_view hint = {});
  void words(double x, double y, std::string_view text, Anchor anchor,
             std::string_view css_class = {}, std::string_view hint = {});
  // Draws a line through the points. A gap interrupts it; a point between two gaps becomes a dot.
  void path(std::span<const Point> points, std::string_view css_class);
  // Fills the area between two lines, which must have the same x values.
  void area(std::span<const Point> above, std::span<const Point> below, std::string_view css_class);

  const std::string& text() const { return text_; }

 private:
  void finish(std::string_view hint);

  std::string text_;
};

// Returns the approximate width of a text in the default size, in pixels.
double width_of(std::string_view text);

}  // namespace tributary::report
