// A small grey picture on which strokes with smooth edges are drawn. A pixel's ink depends on its
// distance from the stroke.
//
// All arithmetic is in float and in a fixed order, so a picture is the same on every machine. A
// canvas is used by one thread. Coordinates are in pixels; the centre of pixel (0, 0) is (0.5,
// 0.5).
#pragma once

#include <cstdint>
#include <vector>

#include "core/data/drawn/glyphs.h"

namespace tributary {

class Canvas {
 public:
  Canvas(std::uint32_t width, std::uint32_t height)
      : width_(width), height_(height), ink_(std::size_t{width} * height) {}

  // Draws a line with round ends. `radius` is half its thickness in pixels, `ink` its darkness in
  // [0, 1]. Where strokes overlap, the darker one counts. Parts outside the canvas are clipped.
  void line(Point from, Point to, float radius, float ink);

  // Values in row-major order, 0 where nothing was drawn.
  std::vector<float>& ink() { return ink_; }
  void clear() { ink_.assign(ink_.size(), 0.0f); }

 private:
  std::uint32_t width_;
  std::uint32_t height_;
  std::vector<float> ink_;
};

// Appends points on a smooth curve (Catmull-Rom) through `points` to `out`: `steps` points per
// section and the last point. The first and the last point also serve as their own neighbours.
void smooth_curve(std::span<const Point> points, std::uint32_t steps, std::vector<Point>& out);

}  // namespace tributary
