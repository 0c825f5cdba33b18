// The elements of a picture: SVG text, piece by piece, each with its class from picture_styles().
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/report/svg/points.h"

namespace tributary::report {

enum class Anchor { start, middle, end };

class Drawing {
 public:
  void open_group(std::string_view css_class);
  void close_group() { text_ += "</g>\n"; }

  // A hint is what the pointer shows when it rests there.
  void line(double x1, double y1, double x2, double y2, std::string_view css_class,
            std::string_view hint = {});
  void box(double x, double y, double width, double height, std::string_view css_class,
           std::string_view hint = {});
  void dot(double x, double y, double radius, std::string_view css_class,
           std::string_view hint = {});
  void words(double x, double y, std::string_view text, Anchor anchor,
             std::string_view css_class = {}, std::string_view hint = {});
  // Pen down from point to point, up at a gap; stretches of a single point are drawn as dots.
  void path(std::span<const Point> points, std::string_view css_class);
  // The area between two lines with the same x.
  void area(std::span<const Point> above, std::span<const Point> below, std::string_view css_class);

  const std::string& text() const { return text_; }

 private:
  void finish(std::string_view hint);

  std::string text_;
};

// How wide a text of the usual size is, about.
double width_of(std::string_view text);

}  // namespace tributary::report
