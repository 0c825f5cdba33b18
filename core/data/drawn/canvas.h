// A small grey picture on which strokes are drawn with smooth edges, by the distance of each pixel
// near a line from it. Float arithmetic in a fixed order: the same picture on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "core/data/drawn/glyphs.h"

namespace tributary {

class Canvas {
 public:
  Canvas(std::uint32_t width, std::uint32_t height)
      : width_(width), height_(height), ink_(std::size_t{width} * height) {}

  // A line with round ends; where lines meet the darker one counts. Pixel (0, 0) has its middle at
  // (0.5, 0.5).
  void line(Point from, Point to, float radius, float ink);

  std::vector<float>& ink() { return ink_; }
  void clear() { ink_.assign(ink_.size(), 0.0f); }

 private:
  std::uint32_t width_;
  std::uint32_t height_;
  std::vector<float> ink_;
};

// Points on a smooth curve through `points` (Catmull and Rom), `steps` per section and the last
// point; appended.
void smooth_curve(std::span<const Point> points, std::uint32_t steps, std::vector<Point>& out);

}  // namespace tributary
